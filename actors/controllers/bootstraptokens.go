package controllers

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
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

	mu   sync.Mutex // guards held
	held map[string]bootstrapSecret
}

// bootstrapSecret is one of them.
type bootstrapSecret struct {
	authn.BootstrapToken
	whole   bool // it is well made
	object  meta.Key
	uid     string
	version uint64
}

func newBootstrapTokens(kinds *catalog.Catalog) *bootstrapTokens {
	return &bootstrapTokens{
		kind: core(kinds, "Secret"), naming: kinds.Naming(),
		changed: make(chan struct{}, 1), held: map[string]bootstrapSecret{},
	}
}

// See implements Observer.
func (b *bootstrapTokens) See(o *meta.Object, gone bool) {
	if o.Key.Namespace != b.naming.SystemNamespace() {
		return
	}
	b.mu.Lock()
	_, known := b.held[o.Key.Name]
	s, ok := b.read(o, gone)
	if ok {
		b.held[s.object.Name] = s
	} else {
		delete(b.held, o.Key.Name)
	}
	b.mu.Unlock()
	if known || ok {
		b.signal()
	}
}

// Read implements Observer.
func (b *bootstrapTokens) Read() { b.signal() }

func (b *bootstrapTokens) signal() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// read gives false for what is none, or is about to go.
func (b *bootstrapTokens) read(o *meta.Object, gone bool) (s bootstrapSecret, ok bool) {
	if gone || o.Head.Terminating {
		return s, false
	}
	tree, err := codec.DecodeStored(b.kind.Message, o.JSON)
	if err != nil || rules.Text(tree, "type") != b.naming.Name(authn.BootstrapSecretType) {
		return s, false
	}
	s = bootstrapSecret{object: own(o.Key), uid: o.Head.UID, version: o.Version}
	s.BootstrapToken, err = authn.ReadBootstrapToken(b.naming, &policy.Object{Key: o.Key, Head: o.Head, Tree: tree})
	s.whole = err == nil
	return s, true
}

// all are those that there are.
func (b *bootstrapTokens) all() []bootstrapSecret {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []bootstrapSecret
	for _, s := range b.held {
		all = append(all, s)
	}
	return all
}

// serve calls act after every change and whenever a token has ended, until the context ends.
// What fails is tried again.
func (b *bootstrapTokens) serve(ctx context.Context, act func(ctx context.Context, all []bootstrapSecret, now time.Time) error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	pause := firstRetry
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
			pause = min(2*pause, lastRetry)
			continue
		}
		pause = firstRetry
		timer.Reset(nextEnd(all, now))
	}
}

// nextEnd is how long it takes until the next token ends, and an hour at most.
func nextEnd(all []bootstrapSecret, now time.Time) time.Duration {
	next := time.Hour
	for _, s := range all {
		if at, never := s.Ends(); !never && at.After(now) {
			next = min(next, at.Sub(now))
		}
	}
	return next
}
