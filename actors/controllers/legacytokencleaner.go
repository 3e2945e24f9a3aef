package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	nodeauthz "github.com/troupe-api/troupe/policy/authz/node"
)

// LegacyTokenCleaner ends the tokens in Secrets that were made for service accounts by themselves, and that nobody uses: a Secret
// that is referenced by its account, mounted by no Pod, and not used for a time is marked as invalid, and after as much time
// again it is deleted. Days are compared, as the labels of such Secrets hold no more.
type LegacyTokenCleaner struct {
	*Env
	secrets, accounts, pods, maps reconcile.Client
	tracking                      meta.Key // of the ConfigMap that holds since when uses are noted
	names                         serviceaccount.SecretNames
	unused                        time.Duration
	now                           func() time.Time
}

// legacyTokenPeriod is the time between two looks.
const legacyTokenPeriod = 24 * time.Hour

// NewLegacyTokenCleaner returns the controller. unused is how long a token stays that is not
// used.
func NewLegacyTokenCleaner(env *Env, unused time.Duration) *LegacyTokenCleaner {
	maps := env.Core("ConfigMap")
	return &LegacyTokenCleaner{
		Env: env, names: serviceaccount.NewSecretNames(env.Naming), unused: unused, now: time.Now,
		secrets: env.Core("Secret"), accounts: env.Core("ServiceAccount"), pods: env.Core("Pod"), maps: maps,
		tracking: maps.Key(env.SystemNamespace(), env.Translate(legacyTokenTracking)),
	}
}

// Run runs the controller until the context ends. It looks once a day, and keeps nothing in between.
func (c *LegacyTokenCleaner) Run(ctx context.Context) {
	reconcile.Every(ctx, legacyTokenPeriod, func(ctx context.Context) {
		if err := c.clean(ctx); err != nil && ctx.Err() == nil {
			c.Log.Warn("tokens of service accounts that nobody uses stay", "error", err)
		}
	})
}

// clean looks at all Secrets with tokens, if their use has been noted for long enough to say that there was none.
func (c *LegacyTokenCleaner) clean(ctx context.Context) error {
	now := c.now().UTC()
	since, ok, err := c.trackedSince(ctx)
	if err != nil || !ok || now.Before(since.Add(c.unused)) {
		return err
	}
	all, err := c.secrets.List(ctx, request.List{})
	if err != nil {
		return err
	}
	mounted := &mountedSecrets{pods: c.pods, byNamespace: map[string]map[string]bool{}}
	var faults []error
	for _, o := range all {
		if err := c.cleanSecret(ctx, o, now, mounted); err != nil && !reconcile.IsConflict(err) {
			faults = append(faults, fmt.Errorf("%s: %w", o.Key, err))
		}
	}
	return errors.Join(faults...)
}

// trackedSince is the first moment from which on every use was noted: the end of the day on which that began. ok is false
// while there is none.
func (c *LegacyTokenCleaner) trackedSince(ctx context.Context) (since time.Time, ok bool, err error) {
	_, object, err := c.maps.Read(ctx, c.tracking)
	if err != nil || object == nil {
		return since, false, err
	}
	day, err := time.Parse(time.DateOnly, object.Object("data").String(trackedSinceKey))
	return day.AddDate(0, 0, 1), err == nil, err
}

// cleanSecret marks or deletes a Secret, if nobody has used its token for long enough.
func (c *LegacyTokenCleaner) cleanSecret(ctx context.Context, o *meta.Object, now time.Time, mounted *mountedSecrets) error {
	secret, unused, err := c.unusedToken(o, now)
	if err != nil || !unused {
		return err
	}
	made, err := c.madeByItself(ctx, o.Key, secret)
	if err != nil || !made {
		return err
	}
	if in, err := mounted.has(ctx, o.Key); err != nil || in {
		return err
	}
	invalid, _ := o.Meta.Labels.Get(c.names.InvalidSince)
	if _, err := time.Parse(time.DateOnly, invalid); err != nil {
		c.Log.Info("the token of a service account that nobody uses is invalid from now on", "secret", o.Key.String())
		return c.secrets.Patch(ctx, o, "", tree.Tree{
			"metadata": tree.Tree{"labels": tree.Tree{c.names.InvalidSince: now.Format(time.DateOnly)}},
		})
	}
	if invalid >= c.limit(now) {
		return nil
	}
	c.Log.Info("the token of a service account that nobody uses is deleted", "secret", o.Key.String())
	return c.secrets.Delete(ctx, o)
}

// limit is the first day that is too late to count as unused.
func (c *LegacyTokenCleaner) limit(now time.Time) string {
	return now.Add(-c.unused).Format(time.DateOnly)
}

// unusedToken reads a Secret with a token that has existed for long enough and was not used since. Secrets of other types are
// not decoded.
func (c *LegacyTokenCleaner) unusedToken(o *meta.Object, now time.Time) (secret serviceaccount.TokenSecret, unused bool, err error) {
	if o.Meta.Terminating || !bytes.Contains(o.JSON, []byte(c.names.Type)) {
		return secret, false, nil
	}
	object, err := c.secrets.Decode(o)
	if err != nil {
		return secret, false, err
	}
	secret, ok := c.names.Read(object)
	if !ok {
		return secret, false, nil
	}
	created, err := time.Parse(time.RFC3339, object.Object("metadata").String("creationTimestamp"))
	if err != nil || !created.Before(now.Add(-c.unused)) {
		return secret, false, err
	}
	last, noted := o.Meta.Labels.Get(c.names.LastUsed)
	if !noted {
		return secret, true, nil
	}
	_, err = time.Parse(time.DateOnly, last)
	return secret, err == nil && last < c.limit(now), err
}

// madeByItself tells whether a Secret is one of those that were made for every account: its account references it. Others were
// made by somebody, who may want them.
func (c *LegacyTokenCleaner) madeByItself(ctx context.Context, key meta.Key, secret serviceaccount.TokenSecret) (bool, error) {
	o, object, err := c.accounts.ReadNamed(ctx, key.Namespace, secret.Account)
	if err != nil || o == nil || secret.UID != "" && secret.UID != o.Meta.UID {
		return false, err
	}
	return slices.ContainsFunc(object.Objects("secrets"), func(ref tree.Tree) bool { return ref.String("name") == key.Name }), nil
}

// mountedSecrets are the Secrets that Pods name. Those of a namespace are found out when they are first asked for.
type mountedSecrets struct {
	pods        reconcile.Client
	byNamespace map[string]map[string]bool
}

func (m *mountedSecrets) has(ctx context.Context, secret meta.Key) (bool, error) {
	names := m.byNamespace[secret.Namespace]
	if names != nil {
		return names[secret.Name], nil
	}
	names = map[string]bool{}
	all, err := m.pods.List(ctx, request.List{Namespace: secret.Namespace})
	if err != nil {
		return false, err
	}
	for _, o := range all {
		pod, err := m.pods.Decode(o)
		if err != nil {
			return false, err
		}
		for _, name := range nodeauthz.SecretsOf(pod) {
			names[name] = true
		}
	}
	m.byNamespace[secret.Namespace] = names
	return names[secret.Name], nil
}
