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

// Events receives a Transformer's events, for metrics. Methods must not block and must be safe for
// concurrent use.
type Events interface {
	// Transformed is called for each value. direction is "to_storage" or "from_storage". prefix is
	// the prefix of the provider without the key name.
	Transformed(resource, direction, prefix string, err error, took time.Duration)
	KMSCall(plugin, method, code string, took time.Duration)
	// KeyIDUsed is called with the ID of the KMS key when its seed encrypts or decrypts a value.
	KeyIDUsed(plugin, direction, keyID string)
	// KeyIDReported is called with the current key ID of a plugin after each probe.
	KeyIDReported(plugin, keyID string)
	InvalidKeyID(plugin, keyID string)
}

// Options configures a Transformer. The zero value is ready for use.
type Options struct {
	Logger *slog.Logger // nil: slog.Default()
	Now    func() time.Time
	Events Events // nil: none
}

type noEvents struct{}

func (noEvents) Transformed(string, string, string, error, time.Duration) {}
func (noEvents) KMSCall(string, string, string, time.Duration)            {}
func (noEvents) KeyIDUsed(string, string, string)                         {}
func (noEvents) KeyIDReported(string, string)                             {}
func (noEvents) InvalidKeyID(string, string)                              {}

// A Transformer encrypts values according to a Configuration. It is a persist.Transformer.
type Transformer struct {
	o       Options
	current atomic.Pointer[providers]
	// resources maps the group and resource at the start of a storage key to a *resource.
	resources sync.Map
	newest    atomic.Uint64 // newest revision of any value
	rewrites  atomic.Uint64 // result of Rewrites
	replacing sync.Mutex    // held by Replace and during probes
	wake      chan struct{} // capacity 1; signals that a health check needs a new status
}

// providers contains the providers of one configuration. It is immutable and remains usable after
// Replace.
type providers struct {
	byResource map[groupResource][]provider
	plugins    []*plugin
	hash       string
}

type resource struct {
	groupResource
	mu       sync.Mutex    // guards writerID
	writerID string        // key of the newest values
	staleTo  atomic.Uint64 // the newest revision that may be stale
}

// New returns a Transformer. With a nil configuration it does not encrypt, and rejects encrypted
// values. New probes each KMS plugin once, and Run retries the unresponsive ones.
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
		p.probe(context.Background()) // the error is logged, and Run retries
	}
	return t, nil
}

func escapeName(name string) string { return url.QueryEscape(name) }

// newProviders creates the providers of a configuration without connecting, so that an error leaves
// nothing to close.
func (t *Transformer) newProviders(c *Configuration) (*providers, error) {
	made := &providers{byResource: map[groupResource][]provider{}}
	if c == nil {
		return made, nil
	}
	made.hash = c.hash
	connect := func(of kmsConfig) *plugin { return newPlugin(of, t.o) }
	for _, r := range c.rules {
		var chain []provider
		for _, of := range r.Providers {
			next, err := newProviders(of, connect, &made.plugins)
			if err != nil {
				return nil, err
			}
			chain = append(chain, next...)
		}
		for _, g := range r.Resources {
			made.byResource[g] = append(made.byResource[g], chain...)
		}
	}
	return made, nil
}

func (s *providers) of(g groupResource) []provider {
	for _, pattern := range []groupResource{g, {g.group, "*"}, anyResource} {
		if chain := s.byResource[pattern]; chain != nil {
			return chain
		}
	}
	return identityAlone
}

var identityAlone = []provider{identity{}}

// resourceOf returns the resource of a storage key, which begins with group and resource. It clones
// the strings that it keeps, so that the caller's key can be freed.
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

// Transforms implements persist.Transformer. It returns true even if identity is only one of
// several providers, because other providers may have written values.
func (t *Transformer) Transforms(key string) bool {
	if t.current.Load().hash == "" {
		return false
	}
	chain := t.current.Load().of(t.resourceOf(key).groupResource)
	return len(chain) > 1 || chain[0].prefix() != ""
}

func (t *Transformer) Check(key string) error {
	if t.current.Load().hash == "" {
		return nil
	}
	return t.current.Load().of(t.resourceOf(key).groupResource)[0].check()
}

// Encode implements persist.Transformer. It marks the value as stale if the encryption key is
// replaced during the call.
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

// decodeWith tries every provider whose prefix matches, because several keys may share a name.
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
		return nil, "", fmt.Errorf("it is encrypted with %s and cannot be decrypted: %w", Provider(stored), err)
	case encrypted:
		return nil, "", fmt.Errorf("it is encrypted with %s, which the encryption configuration does not list for its resource", Provider(stored))
	}
	return nil, "", errors.New("it is not encrypted, and the encryption configuration does not list identity for its resource")
}

// appendPlace appends the place that a value is bound to (see doc.go).
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

// Provider returns the provider and key name of a stored value, such as "aesgcm:v1:key1", or
// "identity" if it is not encrypted. It needs no key.
func Provider(stored []byte) string {
	const limit = 1024
	rest, ok := bytes.CutPrefix(stored[:min(len(stored), limit)], []byte(marker))
	if !ok {
		return "identity"
	}
	parts := strings.SplitN(string(rest), ":", 4)
	if len(parts) < 4 {
		return "something unknown"
	}
	return strings.Join(parts[:3], ":")
}

// transformed omits the key name, because the number of keys is unbounded.
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

// Stale reports whether the value of a key, written at a revision, should be rewritten because it
// is not encrypted with the current key.
func (t *Transformer) Stale(key string, revision persist.Revision) bool {
	return uint64(revision) <= t.resourceOf(key).staleTo.Load()
}

// addStale increments the counter last, so that a caller that reads the new count also finds the
// stale values.
func (t *Transformer) addStale(r *resource, upTo uint64) {
	storeMax(&r.staleTo, upTo)
	t.rewrites.Add(1)
}

// Rewrites returns a counter that increases when values become stale. A snapshot started after an
// increase encrypts all values with the current keys.
func (t *Transformer) Rewrites() uint64 { return t.rewrites.Load() }

// Hash returns the hash of the current configuration, or "" if there is none.
func (t *Transformer) Hash() string { return t.current.Load().hash }

// Replace switches to another configuration if all of its KMS plugins are healthy. Once Replace
// returns, new values use the new configuration. After an error, the old one remains in effect.
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

func closeAll(s *providers) {
	for _, p := range s.plugins {
		p.client.close()
	}
}

// markStale marks the values of resources whose key has changed. The caller holds t.replacing,
// which keeps key changes in order.
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

func storeMax(to *atomic.Uint64, value uint64) {
	for {
		have := to.Load()
		if have >= value || to.CompareAndSwap(have, value) {
			return
		}
	}
}

// Run probes the KMS plugins periodically and tracks key changes until ctx ends. It then waits for
// a running Replace and closes the connections.
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

func (t *Transformer) probeDue(ctx context.Context) time.Duration {
	return t.probe(ctx, func(*plugin) bool { return false })
}

func (t *Transformer) probeStale(ctx context.Context) time.Duration {
	return t.probe(ctx, (*plugin).stale)
}

// probe probes all plugins that are due or for which early returns true. It returns the delay until
// the next probe. It holds t.replacing, so that Replace does not close the plugins.
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

// Health returns the errors of the last probe of each KMS plugin, or nil. It does not block. If a
// plugin's last probe is too old, Health triggers a new one, whose result the next call returns.
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
