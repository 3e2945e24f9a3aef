package extension

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestWatchersShareConversions checks that each event is converted once for all watches. Initial
// events and bookmarks also have the requested version.
func TestWatchersShareConversions(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("first", "host", "1"))
	const watchers, changes = 40, 10
	var ready, done sync.WaitGroup
	errs := make(chan error, watchers)
	for range watchers {
		ready.Add(1)
		done.Go(func() { errs <- s.follow(changes, &ready) })
	}
	ready.Wait()
	for i := range changes {
		s.Send(201, "POST", routesV1, client.JSON, v1Conversion(fmt.Sprint("r", i), "host", fmt.Sprint(i)))
	}
	done.Wait()
	for range watchers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	converted := map[any]int{}
	for _, r := range h.take() {
		for _, o := range r.Request.Objects {
			converted[o["metadata"].(conversionObject)["name"]]++
		}
	}
	if len(converted) != changes+1 {
		t.Errorf("%d objects were converted", len(converted))
	}
	for name, n := range converted {
		if n != 1 {
			t.Errorf("%v was converted %d times", name, n)
		}
	}
}

// follow watches routes in v2 until it has received the given number of added objects. It calls
// ready.Done after the initial events.
func (s conversionSession) follow(changes int, ready *sync.WaitGroup) error {
	w, err := s.Watch(s.Ctx, routesV2, url.Values{"sendInitialEvents": {"true"}, "resourceVersionMatch": {"NotOlderThan"}, "allowWatchBookmarks": {"true"}})
	if err != nil {
		ready.Done()
		return err
	}
	defer w.Close()
	for n := 0; n < changes; {
		e, err := w.Next()
		if err != nil {
			return err
		}
		if e.Object["apiVersion"] != "example.com/v2" {
			return fmt.Errorf("%s %s", e.Type, e.Object)
		}
		switch {
		case e.Type == client.Bookmark:
			ready.Done()
		case e.Object.Name() == "first" && specConversion(e.Object) != `{"hostPort":"host:1","proto":"tcp"}`:
			return fmt.Errorf("the initial event %s", e.Object)
		case e.Object.Name() != "first":
			if want := fmt.Sprintf(`{"hostPort":"host:%d","proto":"tcp"}`, n); e.Type != client.Added || specConversion(e.Object) != want {
				return fmt.Errorf("%s %s, want %s", e.Type, e.Object, want)
			}
			n++
		}
	}
	return nil
}

// TestWatchOfUnconvertibleObjects checks that a failed conversion ends a watch with an ERROR event,
// and that new watches can be started.
func TestWatchOfUnconvertibleObjects(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	h.set(lie(func(r *review) { r.Response.Result = conversionObject{"status": "Failure", "message": "I cannot"} }))
	o := s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80")).Object()
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	w, err := s.Watch(ctx, routesV2, url.Values{"resourceVersion": {fmt.Sprint(o.Version() - 1)}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Next()
	if err != nil || e.Type != client.Error || e.Code() != 500 || e.Object["message"] != failed+"I cannot" {
		t.Errorf("%v, %v", e, err)
	}
	w.Close()
	h.set(convertRoutes)
	if w, err = s.Watch(ctx, routesV2, url.Values{"resourceVersion": {fmt.Sprint(o.Version() - 1)}}); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if e, err := w.Next(); err != nil || specConversion(e.Object) != `{"hostPort":"host:80","proto":"tcp"}` {
		t.Errorf("%v, %v", e, err)
	}
}
