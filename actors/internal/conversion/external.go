package conversion

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// callTimeout limits one call of an external converter. The converter should time out slightly
// earlier, with a more specific error.
const callTimeout = 31 * time.Second

// Limits of one call to an external converter. An object above the size limit gets its own call.
const (
	maxCallObjects = 500
	maxCallBytes   = 4 << 20
)

// call is one batched call of an external converter. Its result is set before done is closed.
type call struct {
	keys      []key
	objects   []*meta.Object
	bytes     int
	done      chan struct{}
	converted []*meta.Object
	err       error
}

type pending struct {
	call  *call
	index int
}

// externalObject converts one object with an external converter. If at is the zero key, the result
// is neither shared nor cached.
func (s *Service) externalObject(ctx context.Context, k *schema.Kind, converter convert.Converter, o *meta.Object, at key) (*meta.Object, error) {
	if at == (key{}) {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		out, err := ask(ctx, k, converter, []*meta.Object{o})
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
	out, err := s.external(ctx, k, converter, []*meta.Object{o}, []key{at})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// external converts objects with an external converter. It uses cached results, joins running calls
// of other requests, and makes its own calls for the remaining objects.
//
// If a joined call fails, external retries once with its own call, because an object of the other
// request may have caused the failure.
func (s *Service) external(ctx context.Context, k *schema.Kind, converter convert.Converter, objects []*meta.Object, keys []key) ([]*meta.Object, error) {
	out := make([]*meta.Object, len(objects))
	for retried := false; ; retried = true {
		waits, own, err := s.join(k, converter, objects, keys, out)
		if err != nil {
			return nil, err
		}
		failed, wanted := error(nil), countCalls(waits)
		for i, p := range waits {
			if p.call == nil {
				continue
			}
			if err := p.await(ctx, k); err != nil {
				return nil, err
			}
			if p.call.err == nil {
				out[i] = p.call.converted[p.index]
			} else if failed = p.call.err; own[p.call] || retried || wanted[p.call] == len(p.call.keys) {
				return nil, failed
			}
		}
		if failed == nil {
			return out, nil
		}
	}
}

func countCalls(waits []pending) map[*call]int {
	counts := map[*call]int{}
	for _, p := range waits {
		if p.call != nil {
			counts[p.call]++
		}
	}
	return counts
}

func (p pending) await(ctx context.Context, k *schema.Kind) error {
	select {
	case <-p.call.done:
		return nil
	default:
	}
	select {
	case <-p.call.done:
		return nil
	case <-ctx.Done():
		return failure(k, ctx.Err())
	}
}

// join copies cached results to out. For each remaining object, it joins a running call or adds the
// object to a new one. own contains the new calls.
func (s *Service) join(k *schema.Kind, converter convert.Converter, objects []*meta.Object, keys []key, out []*meta.Object) (waits []pending, own map[*call]bool, err error) {
	waits = make([]pending, len(objects))
	var calls []*call
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, at := range keys {
		if out[i] != nil {
			continue
		}
		if p, ok := s.calls[at]; ok { // check calls first, because results are cached before they leave calls
			waits[i] = p
			continue
		}
		if out[i] = s.cached(at); out[i] != nil {
			continue
		}
		if s.closed {
			return nil, nil, meta.NewServiceUnavailable("the server is stopping")
		}
		if n := len(calls); n == 0 || len(calls[n-1].keys) == maxCallObjects || calls[n-1].bytes+len(objects[i].JSON) > maxCallBytes {
			calls = append(calls, &call{done: make(chan struct{})})
		}
		c := calls[len(calls)-1]
		waits[i] = pending{c, len(c.keys)}
		c.keys, c.objects, c.bytes = append(c.keys, at), append(c.objects, objects[i]), c.bytes+len(objects[i].JSON)
		if at != (key{}) {
			s.calls[at] = waits[i]
		}
	}
	if len(calls) > 0 {
		own = make(map[*call]bool, len(calls))
		for _, c := range calls {
			own[c] = true
		}
		s.running.Add(1)
		go s.run(k, converter, calls)
	}
	return waits, own, nil
}

// run executes calls sequentially. If a call fails, the remaining calls fail with the same error.
func (s *Service) run(k *schema.Kind, converter convert.Converter, calls []*call) {
	defer s.running.Done()
	var failed error
	for _, c := range calls {
		if failed == nil {
			ctx, cancel := context.WithTimeout(s.ctx, callTimeout)
			c.converted, failed = ask(ctx, k, converter, c.objects)
			cancel()
		}
		c.err = failed
		s.finish(c)
	}
}

func (s *Service) finish(c *call) {
	if c.err == nil {
		for i, at := range c.keys {
			s.add(at, c.objects[i], c.converted[i])
		}
	}
	s.mu.Lock()
	for _, at := range c.keys {
		delete(s.calls, at)
	}
	s.mu.Unlock()
	close(c.done)
}

func ask(ctx context.Context, k *schema.Kind, converter convert.Converter, objects []*meta.Object) (out []*meta.Object, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			out, err = nil, failure(k, fmt.Errorf("panic: %v", reason))
		}
	}()
	out, err = converter.Convert(ctx, k, objects)
	if err != nil {
		return nil, failure(k, err)
	}
	if len(out) != len(objects) {
		return nil, failure(k, fmt.Errorf("%d objects were returned for %d", len(out), len(objects)))
	}
	for i, o := range out {
		if o == nil || o.Version != objects[i].Version || o.Key != objects[i].Key {
			return nil, failure(k, fmt.Errorf("the response for %s is another object", objects[i].Key))
		}
	}
	return out, nil
}

func failure(k *schema.Kind, err error) error {
	var status *meta.Status
	target := k.APIVersion() + ", Kind=" + k.Kind
	switch {
	case errors.As(err, &status):
		return status
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return meta.NewTimeout("the conversion to " + target + " took too long")
	}
	return &meta.Status{
		Code: http.StatusInternalServerError, Reason: meta.ReasonInternalError,
		Message: fmt.Sprintf("Internal error occurred: the conversion to %s failed: %v", target, err),
	}
}
