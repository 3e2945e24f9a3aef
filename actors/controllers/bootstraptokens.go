package controllers

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

// bootstrapTokens are the Secrets of the system's namespace that hold bootstrap tokens, well
// made or not.
type bootstrapTokens struct {
	kind    *schema.Kind
	naming  *meta.Naming
	changed chan struct{} // has room for one

	mu      sync.Mutex // guards held
	secrets map[string]bootstrapSecret
}

// bootstrapSecret is one of them.
type bootstrapSecret struct {
	authn.BootstrapToken
	valid   bool // it is well made
	object  meta.Key
	uid     string
	version uint64
}

func newBootstrapTokens(kinds *catalog.Catalog) *bootstrapTokens {
	return &bootstrapTokens{
		kind: coreKind(kinds, "Secret"), naming: kinds.Naming(),
		changed: make(chan struct{}, 1), secrets: map[string]bootstrapSecret{},
	}
}

// OnEvent implements Observer.
func (b *bootstrapTokens) OnEvent(o *meta.Object, gone bool) {
	if o.Key.Namespace != b.naming.SystemNamespace() {
		return
	}
	b.mu.Lock()
	_, known := b.secrets[o.Key.Name]
	s, ok := b.parse(o, gone)
	if ok {
		b.secrets[s.object.Name] = s
	} else {
		delete(b.secrets, o.Key.Name)
	}
	b.mu.Unlock()
	if known || ok {
		b.notify()
	}
}

// OnSynced implements Observer.
func (b *bootstrapTokens) OnSynced() { b.notify() }

func (b *bootstrapTokens) notify() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// parse gives false for what is none, or is about to go.
func (b *bootstrapTokens) parse(o *meta.Object, gone bool) (s bootstrapSecret, ok bool) {
	if gone || o.Meta.Terminating {
		return s, false
	}
	root, err := codec.DecodeStored(b.kind.Message, o.JSON)
	if err != nil || root.String("type") != b.naming.Translate(authn.BootstrapSecretType) {
		return s, false
	}
	s = bootstrapSecret{object: cloneKey(o.Key), uid: o.Meta.UID, version: o.Version}
	s.BootstrapToken, err = authn.ReadBootstrapToken(b.naming, &policy.Object{Key: o.Key, Meta: o.Meta, Tree: root})
	s.valid = err == nil
	return s, true
}

// all are those that there are.
func (b *bootstrapTokens) all() []bootstrapSecret {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []bootstrapSecret
	for _, s := range b.secrets {
		all = append(all, s)
	}
	return all
}

// run calls act after every change and whenever a token has ended, until the context ends.
// What fails is tried again.
func (b *bootstrapTokens) run(ctx context.Context, act func(ctx context.Context, all []bootstrapSecret, now time.Time) error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	pause := minRetryDelay
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
			pause = min(2*pause, maxRetryDelay)
			continue
		}
		pause = minRetryDelay
		timer.Reset(nextExpiry(all, now))
	}
}

// nextExpiry is how long it takes until the next token ends, and an hour at most.
func nextExpiry(all []bootstrapSecret, now time.Time) time.Duration {
	next := time.Hour
	for _, s := range all {
		if at, never := s.Expiry(); !never && at.After(now) {
			next = min(next, at.Sub(now))
		}
	}
	return next
}
