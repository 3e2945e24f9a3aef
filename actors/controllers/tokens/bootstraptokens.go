package tokens

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

// bootstrapTokens observes the bootstrap token Secrets in the system namespace, even malformed
// ones, which also expire and must be deleted.
type bootstrapTokens struct {
	*reconcile.Controller[string]
	client reconcile.Client

	mu      sync.Mutex // guards secrets
	secrets map[string]bootstrapSecret
}

// allTokens is the only key in the work queue, because every change processes all tokens.
const allTokens = ""

type bootstrapSecret struct {
	authn.BootstrapToken
	valid  bool         // the Secret is well-formed
	object *meta.Object // its key, version and uid
}

// newBootstrapTokens returns a controller that calls act after every change to a token Secret and
// whenever a token expires.
func newBootstrapTokens(env *reconcile.Env, act func(ctx context.Context, all []bootstrapSecret, now time.Time) error) *bootstrapTokens {
	b := &bootstrapTokens{client: env.Core("Secret"), secrets: map[string]bootstrapSecret{}}
	b.Controller = reconcile.New(env, "", func(ctx context.Context, _ string) error {
		all, now := b.all(), time.Now()
		if err := act(ctx, all, now); err != nil {
			return err
		}
		b.SetTime(allTokens, now.Add(nextExpiry(all, now)))
		return nil
	}, "", "")
	b.Failed = func(string, error) {}
	b.Watch(b.client, b.onSecret).Synced = func() { b.Add(allTokens) }
	return b
}

func (b *bootstrapTokens) onSecret(e reconcile.Event) {
	if e.Key.Namespace != b.SystemNamespace() {
		return
	}
	b.mu.Lock()
	_, known := b.secrets[e.Key.Name]
	s, ok := b.parse(e)
	if ok {
		b.secrets[s.object.Key.Name] = s
	} else {
		delete(b.secrets, e.Key.Name)
	}
	b.mu.Unlock()
	if known || ok {
		b.Add(allTokens)
	}
}

// parse decodes a bootstrap token. It returns false for any other Secret, and for a deleted or
// terminating Secret.
func (b *bootstrapTokens) parse(e reconcile.Event) (s bootstrapSecret, ok bool) {
	if e.Deleted || e.Meta.Terminating {
		return s, false
	}
	root, err := b.client.Decode(e.Object)
	if err != nil || root.String("type") != b.Translate(authn.BootstrapSecretType) {
		return s, false
	}
	s.object = &meta.Object{Key: e.Key, Version: e.Version, Meta: meta.ObjectMeta{UID: e.Meta.UID}}
	s.BootstrapToken, err = authn.ReadBootstrapToken(b.Naming, &policy.Object{Key: e.Key, Meta: e.Meta, Tree: root})
	s.valid = err == nil
	return s, true
}

func (b *bootstrapTokens) all() []bootstrapSecret {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []bootstrapSecret
	for _, s := range b.secrets {
		all = append(all, s)
	}
	return all
}

func nextExpiry(all []bootstrapSecret, now time.Time) time.Duration {
	next := time.Hour
	for _, s := range all {
		if at, never := s.Expiry(); !never && at.After(now) {
			next = min(next, at.Sub(now))
		}
	}
	return next
}
