package tokens

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

// LegacyCleaner removes unused tokens in auto-generated Secrets of service accounts. A Secret is
// auto-generated if its account references it. If no Pod mounts the Secret and its token has been
// unused for a period, the Secret is marked invalid. After another period, it is deleted. Labels
// record only days, so times are compared by day.
type LegacyCleaner struct {
	*reconcile.Env
	secrets, accounts, pods, maps reconcile.Client
	tracking                      meta.Key // ConfigMap with the start of tracking
	names                         serviceaccount.SecretNames
	unused                        time.Duration
	Now                           func() time.Time // the clock
}

const legacyTokenPeriod = 24 * time.Hour

// NewLegacyCleaner returns a new LegacyCleaner. unused is the period without use after which a
// token is marked invalid, and after which a marked token is deleted.
func NewLegacyCleaner(env *reconcile.Env, unused time.Duration) *LegacyCleaner {
	maps := env.Core("ConfigMap")
	return &LegacyCleaner{
		Env: env, names: serviceaccount.NewSecretNames(env.Naming), unused: unused, Now: time.Now,
		secrets: env.Core("Secret"), accounts: env.Core("ServiceAccount"), pods: env.Core("Pod"), maps: maps,
		tracking: maps.Key(env.SystemNamespace(), env.Translate(legacyTokenTracking)),
	}
}

// Run cleans up once a day until ctx is done. It keeps no state between cleanups.
func (c *LegacyCleaner) Run(ctx context.Context) {
	reconcile.Every(ctx, legacyTokenPeriod, func(ctx context.Context) {
		if err := c.clean(ctx); err != nil && ctx.Err() == nil {
			c.Log.Warn("failed to clean up unused legacy service account tokens", "error", err)
		}
	})
}

// clean processes all token Secrets. It does nothing until token use has been tracked for c.unused.
func (c *LegacyCleaner) clean(ctx context.Context) error {
	now := c.Now().UTC()
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

// trackedSince returns the end of the day on which tracking of token use began. Every later use has
// been recorded.
func (c *LegacyCleaner) trackedSince(ctx context.Context) (since time.Time, ok bool, err error) {
	_, object, err := c.maps.Read(ctx, c.tracking)
	if err != nil || object == nil {
		return since, false, err
	}
	day, err := time.Parse(time.DateOnly, object.Object("data").String(trackedSinceKey))
	return day.AddDate(0, 0, 1), err == nil, err
}

func (c *LegacyCleaner) cleanSecret(ctx context.Context, o *meta.Object, now time.Time, mounted *mountedSecrets) error {
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
		c.Log.Info("marked an unused legacy service account token as invalid", "secret", o.Key.String())
		return c.secrets.Patch(ctx, o, "", tree.Tree{
			"metadata": tree.Tree{"labels": tree.Tree{c.names.InvalidSince: now.Format(time.DateOnly)}},
		})
	}
	if invalid >= c.limit(now) {
		return nil
	}
	c.Log.Info("deleting an unused legacy service account token", "secret", o.Key.String())
	return c.secrets.Delete(ctx, o)
}

func (c *LegacyCleaner) limit(now time.Time) string {
	return now.Add(-c.unused).Format(time.DateOnly)
}

// unusedToken decodes a token Secret. unused reports whether the creation of the Secret and the
// last use of its token are both older than c.unused. Secrets of other types are not decoded.
func (c *LegacyCleaner) unusedToken(o *meta.Object, now time.Time) (secret serviceaccount.TokenSecret, unused bool, err error) {
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

func (c *LegacyCleaner) madeByItself(ctx context.Context, key meta.Key, secret serviceaccount.TokenSecret) (bool, error) {
	o, object, err := c.accounts.ReadNamed(ctx, key.Namespace, secret.Account)
	if err != nil || o == nil || secret.UID != "" && secret.UID != o.Meta.UID {
		return false, err
	}
	return slices.ContainsFunc(object.Objects("secrets"), func(ref tree.Tree) bool { return ref.String("name") == key.Name }), nil
}

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
