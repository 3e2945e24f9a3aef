package serviceaccount

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
)

// Objects gives access to the objects that tokens depend on.
type Objects interface {
	// GetMeta returns an object's current metadata without parsing the object. ok is false if the
	// object does not exist. Resource names are those of the platform naming profile.
	GetMeta(r meta.GroupResource, namespace, name string) (h meta.ObjectMeta, ok bool)
	// Get returns the current object, as policy.Objects does.
	Get(r meta.GroupResource, namespace, name string) *policy.Object
}

var (
	accounts = meta.GroupResource{Resource: "serviceaccounts"}
	pods     = meta.GroupResource{Resource: "pods"}
	secrets  = meta.GroupResource{Resource: "secrets"}
	nodes    = meta.GroupResource{Resource: "nodes"}
)

// validateBoundObjects checks that a token's bound objects still exist with the same uid. If an
// object is being deleted, until is the time at which the token becomes invalid.
func (a *Authenticator) validateBoundObjects(v *verifiedToken, token string, now time.Time) (until time.Time, err error) {
	if v.legacy != "" {
		return until, a.validateLegacy(v, token, now)
	}
	if until, err = a.validateRef(accounts, v.Namespace, &ref{v.Name, v.UID}, now); err != nil {
		return until, err
	}
	bound := until
	switch {
	case v.secret != nil:
		bound, err = a.validateRef(secrets, v.Namespace, v.secret, now)
	case v.pod != nil:
		bound, err = a.validateRef(pods, v.Namespace, v.pod, now)
	case v.node != nil:
		bound, err = a.validateRef(nodes, "", v.node, now)
	}
	if until.IsZero() || !bound.IsZero() && bound.Before(until) {
		until = bound
	}
	return until, err
}

// validateRef checks one object. A terminating object counts as existing until clockLeeway after
// its deletion timestamp.
func (a *Authenticator) validateRef(r meta.GroupResource, namespace string, to *ref, now time.Time) (until time.Time, err error) {
	head, ok := a.Objects.GetMeta(r, namespace, to.name)
	switch {
	case !ok:
		return until, fmt.Errorf("the token is bound to an object of %s that was deleted", r.Resource)
	case head.UID != to.uid:
		return until, fmt.Errorf("the token is bound to an earlier object of %s", r.Resource)
	case !head.Terminating:
		return until, nil
	}
	o := a.Objects.Get(r, namespace, to.name)
	if o == nil || o.Meta.UID != to.uid {
		return until, fmt.Errorf("the token is bound to an object of %s that was deleted", r.Resource)
	}
	deleted, err := time.Parse(time.RFC3339, o.Tree.Object("metadata").String("deletionTimestamp"))
	if err != nil || deleted.Before(now.Add(-clockLeeway)) {
		return until, fmt.Errorf("the token is bound to an object of %s that is being deleted", r.Resource)
	}
	return deleted.Add(clockLeeway + 1), nil
}

var (
	errSecretGone  = errors.New("the Secret of the token was deleted or has another token")
	errInvalidated = errors.New("the token has been marked invalid")
	errAccountGone = errors.New("the service account of the token was deleted")
)

// validateLegacy checks that the Secret still contains the token and that the account exists. It
// also reports the use of invalidated tokens, so that operators can detect it.
func (a *Authenticator) validateLegacy(v *verifiedToken, token string, now time.Time) error {
	if !a.Lookup {
		return nil
	}
	secret := a.Objects.Get(secrets, v.Namespace, v.legacy)
	if secret == nil || secret.Meta.Terminating {
		return errSecretGone
	}
	content, ok := a.vendorNames.secrets.Read(secret.Tree)
	if !ok {
		return errSecretGone
	}
	held, err := content.Token()
	if err != nil || subtle.ConstantTimeCompare(held, []byte(token)) != 1 {
		return errSecretGone
	}
	account, ok := a.Objects.GetMeta(accounts, v.Namespace, v.Name)
	if !ok || account.Terminating || account.UID != v.UID {
		return errAccountGone
	}
	if a.LegacyTokenUsed != nil && IsLastUsedStale(secret.Meta.Labels, a.vendorNames.secrets.LastUsed, now) {
		a.LegacyTokenUsed(v.Namespace, v.legacy)
	}
	if since, _ := secret.Meta.Labels.Get(a.vendorNames.secrets.InvalidSince); since != "" {
		return errInvalidated
	}
	return nil
}
