package authn

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
)

// Identifiers of bootstrap tokens. Their Secrets are in the system namespace. BootstrapSecretType
// is in the platform naming profile and must be translated.
const (
	GroupBootstrappers = "system:bootstrappers"
	bootstrapUser      = "system:bootstrap:"

	BootstrapSecretType   = "bootstrap.platform.io/token"
	BootstrapSecretPrefix = "bootstrap-token-"
)

var bootstrapTokenRE = regexp.MustCompile(`^([a-z0-9]{6})\.([a-z0-9]{16})$`)

// isBootstrapGroup reports whether group matches system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9], as
// in Kubernetes.
func isBootstrapGroup(group string) bool {
	const lettersAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789"
	name, ok := strings.CutPrefix(group, "system:bootstrappers:")
	return ok && name != "" && len(name) <= 256 && strings.Trim(name, lettersAndDigits+":-") == "" &&
		strings.IndexByte(lettersAndDigits, name[len(name)-1]) >= 0
}

// A BootstrapToken is a decoded bootstrap token Secret.
type BootstrapToken struct {
	ID, Secret string
	// Expiration is an RFC 3339 time. It is empty if the token never expires.
	Expiration          string
	UsageAuthentication bool // valid as a bearer token
	UsageSigning        bool // signs data that clients read before they trust the server
	ExtraGroups         string
}

// ReadBootstrapToken decodes a bootstrap token Secret. The error states why the Secret is invalid.
func ReadBootstrapToken(naming *meta.Naming, secret *policy.Object) (t BootstrapToken, err error) {
	if kind := secret.Tree.String("type"); kind != naming.Translate(BootstrapSecretType) {
		return t, fmt.Errorf("its type is %q", kind)
	}
	data := secret.Tree.Object("data")
	value := func(key string) string {
		text, fault := base64.StdEncoding.DecodeString(data.String(key))
		if fault != nil {
			err = fmt.Errorf("%s is not base64", key)
		}
		return string(text)
	}
	flag := func(key string) bool {
		text := value(key)
		if text != "" && text != "true" && text != "false" {
			err = fmt.Errorf("%s is neither true nor false", key)
		}
		return text == "true"
	}
	t = BootstrapToken{
		ID: value("token-id"), Secret: value("token-secret"), Expiration: value("expiration"),
		UsageAuthentication: flag("usage-bootstrap-authentication"),
		UsageSigning:        flag("usage-bootstrap-signing"),
		ExtraGroups:         value("auth-extra-groups"),
	}
	switch {
	case err != nil:
	case secret.Key.Name != BootstrapSecretPrefix+t.ID:
		err = fmt.Errorf("its name is not %s followed by its token-id", BootstrapSecretPrefix)
	case !bootstrapTokenRE.MatchString(t.String()):
		err = errors.New("token-id or token-secret are missing, or are not 6 and 16 lower-case letters and digits")
	default:
		err = t.validate()
	}
	return t, err
}

func (t BootstrapToken) validate() error {
	if t.Expiration != "" {
		if _, err := time.Parse(time.RFC3339, t.Expiration); err != nil {
			return errors.New("expiration is not a time in RFC 3339 format")
		}
	}
	if _, ok := t.groups(); !ok {
		return errBootstrapGroups
	}
	return nil
}

// String returns the token as clients send it.
func (t BootstrapToken) String() string { return t.ID + "." + t.Secret }

// Expiry returns the token's expiration time. never is true for a token that does not expire. A
// token with an invalid time counts as expired.
func (t BootstrapToken) Expiry() (at time.Time, never bool) {
	if t.Expiration == "" {
		return at, true
	}
	at, err := time.Parse(time.RFC3339, t.Expiration)
	if err != nil {
		return time.Time{}, false
	}
	return at, false
}

// Expired reports whether the token has expired at now.
func (t BootstrapToken) Expired(now time.Time) bool {
	at, never := t.Expiry()
	return !never && !now.Before(at)
}

func (t BootstrapToken) groups() (all []string, ok bool) {
	all = []string{GroupBootstrappers}
	if t.ExtraGroups == "" {
		return all, true
	}
	for group := range strings.SplitSeq(t.ExtraGroups, ",") {
		if !isBootstrapGroup(group) {
			return nil, false
		}
		all = append(all, group)
	}
	slices.Sort(all)
	return slices.Compact(all), true
}

// BootstrapTokens authenticates requests by the bootstrap tokens in Secrets of the system
// namespace.
func BootstrapTokens(naming *meta.Naming, objects policy.Objects, now func() time.Time) Authenticator {
	return bootstrapTokens{naming, objects, now}
}

type bootstrapTokens struct {
	naming  *meta.Naming
	objects policy.Objects
	now     func() time.Time
}

var (
	errBootstrapUsage   = errors.New("the bootstrap token may not authenticate requests")
	errBootstrapExpired = errors.New("the bootstrap token has expired")
	errBootstrapGroups  = errors.New("auth-extra-groups has groups that are not allowed")
)

// Authenticate returns no opinion on unknown tokens and tokens in other formats.
func (b bootstrapTokens) Authenticate(r Request) (*User, error) {
	form := bootstrapTokenRE.FindStringSubmatch(r.Token)
	if form == nil {
		return nil, nil
	}
	secret := b.objects.Get(meta.GroupResource{Resource: "secrets"}, b.naming.SystemNamespace(), BootstrapSecretPrefix+form[1])
	if secret == nil || secret.Meta.Terminating {
		return nil, nil
	}
	t, err := ReadBootstrapToken(b.naming, secret)
	if err != nil {
		return nil, fmt.Errorf("the Secret %s is not a valid bootstrap token: %w", secret.Key.Name, err)
	}
	if subtle.ConstantTimeCompare([]byte(t.String()), []byte(r.Token)) != 1 {
		return nil, nil
	}
	switch {
	case t.Expired(b.now()):
		return nil, errBootstrapExpired
	case !t.UsageAuthentication:
		return nil, errBootstrapUsage
	}
	groups, _ := t.groups()
	until, _ := t.Expiry()
	return &User{Name: bootstrapUser + t.ID, Groups: groups, ValidUntil: until}, nil
}
