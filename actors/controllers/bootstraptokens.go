package controllers

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

// bootstrapTokens observes the Secrets of type bootstrap token in the system namespace. It includes
// malformed ones, because those expire too and have to be deleted.
type bootstrapTokens struct {
	kind    *schema.Kind
	naming  *meta.Naming
	changed chan struct{} // capacity one: several changes make one notification

	mu      sync.Mutex // guards secrets
	secrets map[string]bootstrapSecret
}

// bootstrapSecret is a Secret of type bootstrap token.
type bootstrapSecret struct {
	authn.BootstrapToken
	valid   bool // the Secret is well-formed
	object  meta.Key
	uid     string
	version uint64
}

// newBootstrapTokens follows the Secrets that hold bootstrap tokens, for the controllers that sign with them and clean up.
func newBootstrapTokens(kinds *catalog.Catalog) *bootstrapTokens {
	return &bootstrapTokens{
		kind: reconcile.CoreKind(kinds, "Secret"), naming: kinds.Naming(),
		changed: make(chan struct{}, 1), secrets: map[string]bootstrapSecret{},
	}
}

// OnEvent implements reconcile.EventHandler.
func (b *bootstrapTokens) OnEvent(e reconcile.Event) {
	if e.Key.Namespace != b.naming.SystemNamespace() {
		return
	}
	b.mu.Lock()
	_, known := b.secrets[e.Key.Name]
	s, ok := b.parse(e)
	if ok {
		b.secrets[s.object.Name] = s
	} else {
		delete(b.secrets, e.Key.Name)
	}
	b.mu.Unlock()
	if known || ok {
		b.notify()
	}
}

// OnSynced implements reconcile.EventHandler.
func (b *bootstrapTokens) OnSynced() { b.notify() }

// notify never blocks. The channel holds one signal, which stands for all changes since it was taken.
func (b *bootstrapTokens) notify() {
	select {
	// There was no signal yet; with one already there, whoever takes it sees this change as well.
	case b.changed <- struct{}{}:
	default:
	}
}

// parse reads a Secret; ok is false if it is no bootstrap token, is deleted or is being deleted.
func (b *bootstrapTokens) parse(e reconcile.Event) (s bootstrapSecret, ok bool) {
	if e.Deleted || e.Meta.Terminating {
		return s, false
	}
	root, err := codec.DecodeStored(b.kind.Message(), e.JSON)
	if err != nil || root.String("type") != b.naming.Translate(authn.BootstrapSecretType) {
		return s, false
	}
	s = bootstrapSecret{object: e.Key, uid: e.Meta.UID, version: e.Version}
	s.BootstrapToken, err = authn.ReadBootstrapToken(b.naming, &policy.Object{Key: e.Key, Meta: e.Meta, Tree: root})
	s.valid = err == nil
	return s, true
}

// all returns the Secrets that exist, in no particular order.
func (b *bootstrapTokens) all() []bootstrapSecret {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []bootstrapSecret
	for _, s := range b.secrets {
		all = append(all, s)
	}
	return all
}

// run calls act after every change and whenever a token expires, until the context ends. If act fails,
// it is called again after a delay that doubles each time.
func (b *bootstrapTokens) run(ctx context.Context, act func(ctx context.Context, all []bootstrapSecret, now time.Time) error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	pause := reconcile.MinRetryDelay
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.changed:
		case <-timer.C:
		}
		all, now := b.all(), time.Now()
		if err := act(ctx, all, now); err != nil {
			timer.Reset(pause)
			pause = min(2*pause, reconcile.MaxRetryDelay)
			continue
		}
		pause = reconcile.MinRetryDelay
		timer.Reset(nextExpiry(all, now))
	}
}

// nextExpiry returns the time until the next token expires, at most an hour.
func nextExpiry(all []bootstrapSecret, now time.Time) time.Duration {
	next := time.Hour
	for _, s := range all {
		if at, never := s.Expiry(); !never && at.After(now) {
			next = min(next, at.Sub(now))
		}
	}
	return next
}
