package encryption

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/persist"
)

// Events are told of what a Transformer does, for metrics. They must not block, and many goroutines call them.
type Events interface {
	// Transformed is called with each value: direction is "to_storage" or "from_storage", prefix the provider's
	// without the name of its key.
	Transformed(resource, direction, prefix string, err error, took time.Duration)
	KMSCall(plugin, method, code string, took time.Duration)
	// KeyIDUsed is called with the id of a KMS key whose seed is used for a value.
	KeyIDUsed(plugin, direction, keyID string)
	// KeyIDReported is called with the id of the key that a plugin says it uses.
	KeyIDReported(plugin, keyID string)
	InvalidKeyID(plugin, keyID string)
}

// Options say what a Transformer works with; the zero value is ready for use.
type Options struct {
	Logger *slog.Logger // nil: slog.Default()
	Now    func() time.Time
	Events Events // nil: nobody is told
}

// noEvents are Events that nobody is told of.
type noEvents struct{}

func (noEvents) Transformed(string, string, string, error, time.Duration) {}
func (noEvents) KMSCall(string, string, string, time.Duration)            {}
func (noEvents) KeyIDUsed(string, string, string)                         {}
func (noEvents) KeyIDReported(string, string)                             {}
func (noEvents) InvalidKeyID(string, string)                              {}

// A Transformer encrypts values as a Configuration says. It implements persist.Transformer.
type Transformer struct {
	o       Options
	current atomic.Pointer[providers]
	// resources are those that values were seen of, by the first two parts of their keys.
	resources sync.Map
	newest    atomic.Uint64 // revision of all values
	rewrites  atomic.Uint64 // Rewrites
	replacing sync.Mutex    // held by Replace and while plugins are probed
	wake      chan struct{} // capacity one: a health check wants fresh answers
}

// providers are those of one configuration. It never changes after it was made, so that whoever has loaded it can go
// on with it after a Replace.
type providers struct {
	byResource map[groupResource][]provider
	plugins    []*plugin
	hash       string
}

// A resource is what is known of the values of one resource.
type resource struct {
	groupResource
	mu       sync.Mutex    // guards writerID
	writerID string        // of the newest values
	staleTo  atomic.Uint64 // the newest revision that may be stale
}

// New makes a Transformer. A nil configuration encrypts nothing, and refuses to take what is encrypted for clear. Its
// KMS plugins are asked for their state once; one that does not answer is asked again by Run.
func New(c *Configuration, o Options) (*Transformer, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Events == nil {
		o.Events = noEvents{}
	}
	t := &Transformer{o: o, wake: make(chan struct{}, 1)}
	made, err := t.newProviders(c)
	if err != nil {
		return nil, err
	}
	t.current.Store(made)
	for _, p := range made.plugins {
		p.probe(context.Background()) // its error is logged, and Run asks again
	}
	return t, nil
}

// escapeName makes a name part of a prefix.
func escapeName(name string) string { return url.QueryEscape(name) }

// newProviders makes the providers of a configuration. Nothing is asked or connected yet, so an error leaves nothing
// to close.
func (t *Transformer) newProviders(c *Configuration) (*providers, error) {
	made := &providers{byResource: map[groupResource][]provider{}}
	if c == nil {
		return made, nil
	}
	made.hash = c.hash
	connect := func(of kmsFile) *plugin { return newPlugin(of, t.o) }
	for _, r := range c.rules {
		var chain []provider
		for _, of := range r.providers {
			next, err := newProviders(of, connect, &made.plugins)
			if err != nil {
				return nil, err
			}
			chain = append(chain, next...)
		}
		for _, g := range r.resources {
			made.byResource[g] = append(made.byResource[g], chain...)
		}
	}
	return made, nil
}

// of are the providers of a resource. The more special entry counts. An entry for the resource itself counts before
// one for its group, and that before one for all.
func (s *providers) of(g groupResource) []provider {
	for _, pattern := range []groupResource{g, {g.group, "*"}, anyResource} {
		if chain := s.byResource[pattern]; chain != nil {
			return chain
		}
	}
	return identityAlone
}

var identityAlone = []provider{identity{}}

// resourceOf finds the resource of a storage key, which begins with group and resource. The text of the key is cloned
// where it is kept, so that what is kept does not hold on to memory of the caller.
func (t *Transformer) resourceOf(key string) *resource {
	group, rest, _ := strings.Cut(key, "/")
	name, _, _ := strings.Cut(rest, "/")
	prefix := key[:min(len(key), len(group)+1+len(name))]
	if known, ok := t.resources.Load(prefix); ok {
		return known.(*resource)
	}
	made := &resource{groupResource: groupResource{strings.Clone(group), strings.Clone(name)}}
	made.writerID = t.current.Load().of(made.groupResource)[0].writerID()
	known, _ := t.resources.LoadOrStore(strings.Clone(prefix), made)
	return known.(*resource)
}

// Transforms implements persist.Transformer. Where identity is but one of several providers, there may be values of the others.
func (t *Transformer) Transforms(key string) bool {
	if t.current.Load().hash == "" {
		return false
	}
	chain := t.current.Load().of(t.resourceOf(key).groupResource)
	return len(chain) > 1 || chain[0].prefix() != ""
}

// Check implements persist.Transformer.
func (t *Transformer) Check(key string) error {
	if t.current.Load().hash == "" {
		return nil
	}
	return t.current.Load().of(t.resourceOf(key).groupResource)[0].check()
}

// Encode implements persist.Transformer.
//
// The key may be replaced while a value is encrypted with the one before: then the value is stale from the beginning.
func (t *Transformer) Encode(b []byte, at persist.Place, value []byte) []byte {
	if t.current.Load().hash == "" {
		return append(b, value...)
	}
	began := time.Now()
	r := t.resourceOf(at.Key)
	storeMax(&t.newest, uint64(at.Revision))
	p := t.current.Load().of(r.groupResource)[0]
	b, id := p.encode(append(b, p.prefix()...), appendPlace(nil, at), value)
	if t.current.Load().of(r.groupResource)[0].writerID() != id {
		t.addStale(r, uint64(at.Revision))
	}
	t.transformed(r, "to_storage", p.prefix(), nil, began)
	return b
}

// Decode implements persist.Transformer.
func (t *Transformer) Decode(at persist.Place, stored []byte) ([]byte, error) {
	began := time.Now()
	r := t.resourceOf(at.Key)
	storeMax(&t.newest, uint64(at.Revision))
	chain := t.current.Load().of(r.groupResource)
	value, id, err := decodeWith(chain, at, stored)
	if err == nil && !at.Replaced && id != chain[0].writerID() {
		t.addStale(r, uint64(at.Revision))
	}
	t.transformed(r, "from_storage", Provider(stored), err, began)
	return value, err
}

// decodeWith tries every provider whose prefix a value has; several keys may have one name.
func decodeWith(chain []provider, at persist.Place, stored []byte) (value []byte, id string, err error) {
	encrypted := strings.HasPrefix(string(stored[:min(len(stored), len(marker))]), marker)
	for _, p := range chain {
		prefix := p.prefix()
		if encrypted != (prefix != "") || !strings.HasPrefix(string(stored[:min(len(stored), len(prefix))]), prefix) {
			continue
		}
		var place []byte
		if encrypted {
			place = appendPlace(nil, at)
		}
		if value, id, err = p.decode(stored[len(prefix):], place); err == nil {
			return value, id, nil
		}
	}
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("it is encrypted with %s and does not decrypt: %w", Provider(stored), err)
	case encrypted:
		return nil, "", fmt.Errorf("it is encrypted with %s, which the encryption configuration does not list for its resource", Provider(stored))
	}
	return nil, "", errors.New("it is not encrypted, and the encryption configuration does not list identity for its resource")
}

// appendPlace appends what a value is bound to (doc.go).
func appendPlace(b []byte, at persist.Place) []byte {
	part := byte(0)
	if at.Metadata {
		part = 1
	}
	b = append(b, part)
	bound := at.Revision
	if at.Unversioned {
		bound = 0
	}
	for shift := 0; shift < 64; shift += 8 {
		b = append(b, byte(bound>>shift))
	}
	return append(b, at.Key...)
}

// Provider names what a stored value is encrypted with, as in "aesgcm:v1:key1"; "identity" for one in clear. It
// needs no key.
func Provider(stored []byte) string {
	const most = 1024
	rest, ok := bytes.CutPrefix(stored[:min(len(stored), most)], []byte(marker))
	if !ok {
		return "identity"
	}
	parts := strings.SplitN(string(rest), ":", 4)
	if len(parts) < 4 {
		return "something unknown"
	}
	return strings.Join(parts[:3], ":")
}

// transformed tells of a value. Metrics name algorithms and not keys, whose number has no bound. Values in clear are
// not counted.
func (t *Transformer) transformed(r *resource, direction, provider string, err error, began time.Time) {
	if provider == "" || provider == "identity" {
		return
	}
	provider = strings.TrimPrefix(provider, marker)
	if parts := strings.SplitN(provider, ":", 3); len(parts) == 3 {
		provider = parts[0] + ":" + parts[1] + ":"
	}
	t.o.Events.Transformed(r.String(), direction, marker+provider, err, time.Since(began))
}

// Stale says whether what is stored of a key at a revision should be written again, because it is not encrypted with
// the key that is in use now.
func (t *Transformer) Stale(key string, revision persist.Revision) bool {
	return uint64(revision) <= t.resourceOf(key).staleTo.Load()
}

// addStale marks all values of a resource up to a revision. The mark is set before the counter rises: who sees the
// new count finds the values stale.
func (t *Transformer) addStale(r *resource, upTo uint64) {
	storeMax(&r.staleTo, upTo)
	t.rewrites.Add(1)
}

// Rewrites rises when values have become stale: a snapshot that is begun afterwards writes all of the state with the
// keys that are in use now.
func (t *Transformer) Rewrites() uint64 { return t.rewrites.Load() }

// Hash is that of the configuration that is in use; "" if there is none.
func (t *Transformer) Hash() string { return t.current.Load().hash }

// Replace goes over to another configuration, if all of its KMS plugins are well. It returns when new values are
// encrypted by it.
//
// After an error nothing has changed: the new plugins are closed, and the old ones were not touched. Values that are
// being encrypted by the old configuration meanwhile are stale from the beginning (Encode).
func (t *Transformer) Replace(ctx context.Context, c *Configuration) error {
	t.replacing.Lock()
	defer t.replacing.Unlock()
	made, err := t.newProviders(c)
	if err != nil {
		return err
	}
	var unwell []error
	for _, p := range made.plugins {
		unwell = append(unwell, p.probe(ctx))
	}
	if err := errors.Join(unwell...); err != nil {
		closeAll(made)
		return err
	}
	before := t.current.Swap(made)
	t.markStale()
	closeAll(before)
	return nil
}

// closeAll closes the clients of the plugins. Values that are still read by them open a connection again.
func closeAll(s *providers) {
	for _, p := range s.plugins {
		p.client.close()
	}
}

// markStale marks the values of resources whose key has changed. t.replacing is held, so that two keys in quick
// succession are seen in their order.
func (t *Transformer) markStale() {
	current := t.current.Load()
	t.resources.Range(func(_, value any) bool {
		r := value.(*resource)
		r.mu.Lock()
		defer r.mu.Unlock()
		if id := current.of(r.groupResource)[0].writerID(); id != r.writerID {
			r.writerID = id
			t.addStale(r, t.newest.Load())
		}
		return true
	})
}

// storeMax raises a number to a value, and never lowers it, however many goroutines do so at once.
func storeMax(to *atomic.Uint64, value uint64) {
	for {
		have := to.Load()
		if have >= value || to.CompareAndSwap(have, value) {
			return
		}
	}
}

// Run asks the KMS plugins for their state from time to time, and follows their keys, until the context ends. It
// closes the plugins' connections when it ends, after a Replace that is under way.
func (t *Transformer) Run(ctx context.Context) {
	for probe := t.probeDue; ; {
		timer := time.NewTimer(probe(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			t.replacing.Lock()
			defer t.replacing.Unlock()
			closeAll(t.current.Load())
			return
		case <-timer.C:
			probe = t.probeDue
		case <-t.wake:
			timer.Stop()
			probe = t.probeStale
		}
	}
}

// probeDue probes the plugins that are due, and returns how long the next one has time.
func (t *Transformer) probeDue(ctx context.Context) time.Duration {
	return t.probe(ctx, func(*plugin) bool { return false })
}

// probeStale is probeDue, and probes those as well of which what is known is old.
func (t *Transformer) probeStale(ctx context.Context) time.Duration {
	return t.probe(ctx, (*plugin).stale)
}

// The lock keeps the plugins from being closed while they are asked.
func (t *Transformer) probe(ctx context.Context, early func(*plugin) bool) time.Duration {
	t.replacing.Lock()
	defer t.replacing.Unlock()
	next := probePeriod
	for _, p := range t.current.Load().plugins {
		if !p.dueAt().After(t.o.Now()) || early(p) {
			p.probe(ctx)
		}
		next = min(next, max(p.dueAt().Sub(t.o.Now()), 0))
	}
	t.markStale()
	return next
}

// Health says whether all KMS plugins were well when they were asked last. It does not wait for them: if that was
// some time ago, they are asked for the next check.
func (t *Transformer) Health() error {
	var unwell []error
	for _, p := range t.current.Load().plugins {
		if p.stale() {
			select {
			case t.wake <- struct{}{}:
			default:
			}
		}
		unwell = append(unwell, p.health())
	}
	return errors.Join(unwell...)
}
