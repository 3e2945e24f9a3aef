package conversion

import (
	"context"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/internal/cache"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Service converts stored objects to the requested kinds. It is safe for concurrent use.
type Service struct {
	converter func(*schema.Kind) convert.Converter
	cache     *cache.Cache[key, *meta.Object]

	mu      sync.Mutex // guards calls and closed
	calls   map[key]pending
	closed  bool
	running sync.WaitGroup // external calls
	ctx     context.Context
	cancel  context.CancelFunc
}

// NewService returns a Service. converter returns the external converter of a kind, or nil if its
// conversion is built in. converter may be nil.
func NewService(converter func(*schema.Kind) convert.Converter) *Service {
	if converter == nil {
		converter = func(*schema.Kind) convert.Converter { return nil }
	}
	s := &Service{converter: converter, cache: cache.New[key, *meta.Object](maxCacheBytes), calls: make(map[key]pending)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close cancels external calls and waits until they have returned.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Form returns the convert.Form for kind k. The zero Form is the stored form.
func (s *Service) Form(k *schema.Kind) convert.Form {
	if k.Stored == k && !k.IsCustom() {
		return convert.Form{}
	}
	return convert.Form{Kind: k, Converter: s}
}

// MayWait reports whether a conversion to kind k may call an external converter.
func (s *Service) MayWait(k *schema.Kind) bool {
	return s.Form(k).Converter != nil && s.converter(k) != nil
}

// Get returns a stored object converted to kind k or to a subresource, or nil if the object has no
// content for the subresource.
func (s *Service) Get(ctx context.Context, k *schema.Kind, subresource string, o *meta.Object) (*meta.Object, error) {
	if subresource == "" && s.Form(k).Converter == nil {
		return o, nil
	}
	return s.convert(ctx, k, subresource, o, keyOf(k, o, false))
}

// Result converts the object that a mutation returns, like Get. An error does not affect the
// mutation, which has already succeeded. For a delete that does not return the object, Result calls
// no webhook.
func (s *Service) Result(ctx context.Context, m *request.Mutation, r request.Result) (*meta.Object, error) {
	if r.Object == nil || r.Deleted && m.Kind.ConversionWebhook() != nil && !m.Kind.Writes.DeleteReturnsObject {
		return r.Object, nil
	}
	if m.Subresource == "" && s.Form(m.Kind).Converter == nil {
		return r.Object, nil
	}
	at := key{}
	if !m.DryRun {
		at = keyOf(m.Kind, r.Object, r.Deleted)
	}
	return s.convert(ctx, m.Kind, m.Subresource, r.Object, at)
}

// TryGet is like Get, but does not block. It returns false if the conversion would block or fails.
func (s *Service) TryGet(k *schema.Kind, subresource string, o *meta.Object) (_ *meta.Object, ok bool) {
	if s.MayWait(k) && !isLocal(k, o) {
		cached := s.cached(keyOf(k, o, false))
		sub := k.Subresource(subresource)
		return cached, cached != nil && (sub == nil || sub.BodyKind == nil)
	}
	o, err := s.Get(context.Background(), k, subresource, o)
	return o, err == nil
}

var _ convert.Converter = (*Service)(nil)

// Convert converts objects to kind k. If no object needs conversion, it returns the given slice.
func (s *Service) Convert(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error) {
	if !slices.ContainsFunc(objects, func(o *meta.Object) bool { return !convert.HasForm(k, o) }) {
		return objects, nil
	}
	out := slices.Clone(objects)
	return out, s.replace(ctx, k, len(out), func(i int) (**meta.Object, bool) { return &out[i], false })
}

// Events converts the objects of watch events in place.
func (s *Service) Events(ctx context.Context, k *schema.Kind, events []request.Event) error {
	return s.replace(ctx, k, len(events), func(i int) (**meta.Object, bool) { return &events[i].Object, events[i].Type == request.Deleted })
}

// replace converts n objects in place. place returns the address of the i-th object, which may be
// nil. deleted marks the last version of a deleted object.
func (s *Service) replace(ctx context.Context, k *schema.Kind, n int, place func(i int) (o **meta.Object, deleted bool)) error {
	converter := s.converter(k)
	var remote []int
	var objects []*meta.Object
	var keys []key
	for i := range n {
		o, deleted := place(i)
		if *o == nil {
			continue
		}
		at := keyOf(k, *o, deleted)
		if converter != nil && !isLocal(k, *o) {
			remote, objects, keys = append(remote, i), append(objects, *o), append(keys, at)
			continue
		}
		converted, err := s.builtIn(k, *o, at)
		if err != nil {
			return err
		}
		*o = converted
	}
	if len(remote) == 0 {
		return nil
	}
	converted, err := s.external(ctx, k, converter, objects, keys)
	for i, o := range converted {
		at, _ := place(remote[i])
		*at = o
	}
	return err
}

func (s *Service) convert(ctx context.Context, k *schema.Kind, subresource string, o *meta.Object, at key) (*meta.Object, error) {
	sub, converter := k.Subresource(subresource), s.converter(k)
	ownBody := sub != nil && sub.BodyKind != nil
	if ownBody && converter == nil {
		return convert.Object(k, sub, o)
	}
	var err error
	if converter == nil || isLocal(k, o) {
		o, err = s.builtIn(k, o, at)
	} else {
		o, err = s.externalObject(ctx, k, converter, o, at)
	}
	if ownBody && err == nil {
		return convert.View(k, sub, o)
	}
	return o, err
}

func (s *Service) builtIn(k *schema.Kind, o *meta.Object, at key) (*meta.Object, error) {
	if convert.HasForm(k, o) {
		return o, nil
	}
	if k.ConversionWebhook() != nil && !convert.IsWrittenAs(k, o) {
		at = key{} // the result does not have k's form
	}
	if cached := s.cached(at); cached != nil {
		return cached, nil
	}
	out, err := convertUncached(k, o)
	if err == nil && out != o {
		s.add(at, o, out)
	}
	return out, err
}

// convertUncached converts an object like builtIn, but without the cache. If the kind has a
// conversion webhook, the object stays in the version in which it was written.
func convertUncached(k *schema.Kind, o *meta.Object) (*meta.Object, error) {
	if k.ConversionWebhook() != nil {
		return convert.ToCurrentSchema(k, o)
	}
	return convert.Object(k, nil, o)
}

func isLocal(k *schema.Kind, o *meta.Object) bool {
	return convert.HasForm(k, o) || k.ConversionWebhook() != nil && convert.IsWrittenAs(k, o)
}

// Ask returns o converted to kind k. It neither reads nor fills the cache.
func (s *Service) Ask(ctx context.Context, k *schema.Kind, o *meta.Object) (*meta.Object, error) {
	if converter := s.converter(k); converter != nil {
		return s.externalObject(ctx, k, converter, o, key{})
	}
	return convert.Object(k, nil, o)
}
