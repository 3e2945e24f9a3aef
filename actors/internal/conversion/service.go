package conversion

import (
	"context"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Service converts stored objects to what kinds show of them. All of its methods may be called by
// anyone at any time.
type Service struct {
	converter func(*schema.Kind) convert.Converter
	cache     cache

	mu      sync.Mutex // guards calls and closed
	calls   map[key]pending
	closed  bool
	running sync.WaitGroup // external calls
	ctx     context.Context
	cancel  context.CancelFunc
}

// NewService makes a Service. converter names who converts to a kind, and answers nil for one whose
// conversion is built in; it may itself be nil.
func NewService(converter func(*schema.Kind) convert.Converter) *Service {
	if converter == nil {
		converter = func(*schema.Kind) convert.Converter { return nil }
	}
	s := &Service{converter: converter, calls: make(map[key]pending)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close ends external calls, and waits for their ends.
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

// Needed tells whether stored objects are not always what a kind shows.
func Needed(k *schema.Kind) bool { return k.Stored != k || k.IsCustom() }

// MayWait tells whether a conversion to a kind may wait for somebody outside.
func (s *Service) MayWait(k *schema.Kind) bool { return Needed(k) && s.converter(k) != nil }

// Get is a stored object as a kind, or a sub-resource of it, shows it; nil if there is nothing to see.
func (s *Service) Get(ctx context.Context, k *schema.Kind, subresource string, o *meta.Object) (*meta.Object, error) {
	return s.convert(ctx, k, subresource, o, keyOf(k, o, false))
}

// Result is the object that a mutation answers, as Get shows it. The change has been made even if this
// fails.
func (s *Service) Result(ctx context.Context, m *request.Mutation, r request.Result) (*meta.Object, error) {
	if r.Object == nil {
		return nil, nil
	}
	if s.MayWait(m.Kind) && (m.AsWritten || r.Deleted && !m.Kind.Writes.DeleteReturnsObject) {
		return r.Object, nil // of what has gone only the metadata is told
	}
	at := key{}
	if !m.DryRun {
		at = keyOf(m.Kind, r.Object, r.Deleted)
	}
	return s.convert(ctx, m.Kind, m.Subresource, r.Object, at)
}

// TryGet is Get for callers that do not wait; ok is false if there is something to wait for.
func (s *Service) TryGet(k *schema.Kind, subresource string, o *meta.Object) (_ *meta.Object, ok bool) {
	if s.MayWait(k) && !isLocal(k, o) {
		cached := s.cache.get(keyOf(k, o, false))
		sub := k.Subresource(subresource)
		return cached, cached != nil && (sub == nil || sub.BodyKind == nil)
	}
	o, err := s.Get(context.Background(), k, subresource, o)
	return o, err == nil
}

// List is stored objects as a kind shows them: the slice itself if all have that form.
func (s *Service) List(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error) {
	if !Needed(k) || !slices.ContainsFunc(objects, func(o *meta.Object) bool { return !conforms(k, o) }) {
		return objects, nil
	}
	if converter := s.converter(k); converter != nil {
		return s.external(ctx, k, converter, objects, func(int) bool { return false })
	}
	out := make([]*meta.Object, len(objects))
	for i, o := range objects {
		var err error
		if out[i], err = s.builtIn(k, o, keyOf(k, o, false)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Events converts the objects of watch events where they are. Those that are wanted as they were written wait for
// nobody.
func (s *Service) Events(ctx context.Context, k *schema.Kind, events []request.Event, asWritten bool) error {
	if converter := s.converter(k); converter != nil && !asWritten {
		return s.externalEvents(ctx, k, converter, events)
	}
	for i := range events {
		e := &events[i]
		if e.Object == nil {
			continue
		}
		o, err := s.builtIn(k, e.Object, keyOf(k, e.Object, e.Type == request.Deleted))
		if err != nil {
			return err
		}
		e.Object = o
	}
	return nil
}

// externalEvents is Events by an external converter, in one batch.
func (s *Service) externalEvents(ctx context.Context, k *schema.Kind, converter convert.Converter, events []request.Event) error {
	var at []int
	var objects []*meta.Object
	for i := range events {
		if o := events[i].Object; o != nil {
			at, objects = append(at, i), append(objects, o)
		}
	}
	if len(objects) == 0 {
		return nil
	}
	out, err := s.external(ctx, k, converter, objects, func(i int) bool { return events[at[i]].Type == request.Deleted })
	if err != nil {
		return err
	}
	for i, o := range out {
		events[at[i]].Object = o
	}
	return nil
}

// convert is one object as a kind, or a sub-resource of it, shows it.
func (s *Service) convert(ctx context.Context, k *schema.Kind, subresource string, o *meta.Object, at key) (*meta.Object, error) {
	sub := k.Subresource(subresource)
	ownKind := sub != nil && sub.BodyKind != nil
	converter := s.converter(k)
	switch {
	case !Needed(k) && !ownKind:
		return o, nil
	case converter == nil && ownKind:
		return convert.Object(k, sub, o)
	case converter == nil:
		return s.builtIn(k, o, at)
	}
	if isLocal(k, o) {
		var err error
		if o, err = s.builtIn(k, o, at); err != nil {
			return nil, err
		}
	} else {
		out, err := s.externalObject(ctx, k, converter, o, at)
		if err != nil {
			return nil, err
		}
		o = out
	}
	if ownKind {
		return convert.View(k, sub, o)
	}
	return o, nil
}

// builtIn is an object as a kind shows it, from the cache or by package convert. Watchers that come at
// the very same time may both compute it, which is as quick as waiting for the other.
func (s *Service) builtIn(k *schema.Kind, o *meta.Object, at key) (*meta.Object, error) {
	if conforms(k, o) {
		return o, nil
	}
	if k.ConversionWebhook() != nil && !convert.IsWrittenAs(k, o) {
		at = key{} // it is not what k shows
	}
	if cached := s.cache.get(at); cached != nil {
		return cached, nil
	}
	out, err := withoutAsking(k, o)
	if err == nil && out != o {
		s.cache.add(at, o, out)
	}
	return out, err
}

// withoutAsking is what a kind shows of an object without asking anybody: where a webhook converts, the object as it was
// written.
func withoutAsking(k *schema.Kind, o *meta.Object) (*meta.Object, error) {
	if k.ConversionWebhook() != nil {
		return convert.AsWritten(k, o)
	}
	return convert.Object(k, nil, o)
}

// isLocal tells whether nobody has to be asked what a kind shows of an object, although somebody converts to it.
func isLocal(k *schema.Kind, o *meta.Object) bool {
	return conforms(k, o) || k.ConversionWebhook() != nil && convert.IsWrittenAs(k, o)
}

// conforms tells whether a stored object is known to have the form of a kind.
func conforms(k *schema.Kind, o *meta.Object) bool {
	if k.Stored != k && k.ConversionWebhook() == nil {
		return false
	}
	return !k.IsCustom() || o.ConformsTo(k.Origin.Schema.ID())
}

// AsWritten is a stored object for readers of a kind that want it as it was written, where a webhook converts.
func (s *Service) AsWritten(k *schema.Kind, o *meta.Object) (*meta.Object, error) {
	return s.builtIn(k, o, keyOf(k, o, false))
}

// Ask is an object in the form of another kind, by who converts to that. It is for objects that nobody else asks about:
// nothing is kept.
func (s *Service) Ask(ctx context.Context, k *schema.Kind, o *meta.Object) (*meta.Object, error) {
	if converter := s.converter(k); converter != nil {
		return s.externalObject(ctx, k, converter, o, key{})
	}
	return convert.Object(k, nil, o)
}
