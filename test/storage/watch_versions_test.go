package storage

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// TestFuture checks that a read at a future resource version waits briefly and then gets 504.
func TestFuture(t *testing.T) {
	t.Parallel()
	s := client.Serve(t, t.TempDir(), nil)
	for _, path := range []string{
		"/api/v1/configmaps?resourceVersion=1000000", "/api/v1/configmaps?resourceVersion=1000000&resourceVersionMatch=Exact",
		"/api/v1/namespaces/default?resourceVersion=1000000",
	} {
		if a, err := s.Get(within(t), path); err != nil || a.Code != 504 || !strings.Contains(string(a.Body), "Too large resource version") {
			t.Errorf("%s: %v, %v", path, a, err)
		}
	}
}

// TestExpired checks that expired continue tokens get 410, which a watch reports as an ERROR event,
// and that an exact list is then read from the journal. A watch that does not read ends with 410
// and does not delay others.
func TestExpired(t *testing.T) {
	t.Parallel()
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		quick(c)
		c.Watches.HistoryBytes, c.Watches.HistoryTime = 1<<20, daemon.Duration(2*time.Second)
	})
	ctx, objects := within(t), view{namespace: "default"}
	fill := strings.Repeat("x", 32<<10)
	for i := range 3 {
		if a, err := s.Create(ctx, objects.path(), client.ConfigMap(fmt.Sprint("o-", i), nil, map[string]string{"fill": fill})); err != nil || a.Code != 201 {
			t.Fatal(a, err)
		}
	}
	chunk := must.Get(s.List(ctx, objects.path(), url.Values{"limit": {"1"}}))(t)
	stalled := must.Get(s.Watch(ctx, objects.path(), from(objects, chunk.Version)))(t)
	defer stalled.Close()
	reading := must.Get(s.Watch(ctx, objects.path(), from(objects, chunk.Version)))(t)
	defer reading.Close()
	last := chunk.Version
	for i := range 250 { // more than the other connection can buffer
		a, err := s.Patch(ctx, objects.path()+"/o-0", map[string]any{"data": map[string]any{"n": strconv.Itoa(i)}})
		if err != nil || a.Code != 200 {
			t.Fatal(a.Code, err)
		}
		e, err := reading.Next() // writes arrive even though the other watch does not read
		if err != nil || e.Object.Version() != a.Object().Version() || e.Object.Version() <= last {
			t.Fatalf("write %d: %s at %d, %v", i, e.Type, e.Object.Version(), err)
		}
		last = e.Object.Version()
	}
	gone := func(name string, ask func() error) {
		client.Eventually(t, func() error {
			var answer *client.Answer
			if err := ask(); !errors.As(err, &answer) || answer.Code != 410 {
				return fmt.Errorf("%s is not expired: %v", name, err)
			}
			return nil
		})
	}
	gone("a token", func() error {
		_, err := s.List(ctx, objects.path(), url.Values{"limit": {"1"}, "continue": {chunk.Continue}})
		return err
	})
	exact := func() (client.List, error) {
		q := from(objects, chunk.Version)
		q.Set("resourceVersionMatch", "Exact")
		return s.List(ctx, objects.path(), q)
	}
	if client.OnEtcd() {
		gone("an exact list", func() error { _, err := exact(); return err })
	} else if l := must.Get(exact())(t); len(l.Items) != 3 || l.Version != chunk.Version || l.Items[0].Data("n") != "" {
		t.Errorf("the exact list from the journal has version %d and %v", l.Version, l.Items)
	}
	for n := 0; ; n++ {
		e, err := stalled.Next()
		if err != nil {
			t.Fatalf("after %d events: %v", n, err)
		}
		if e.Type == client.Error {
			if e.Code() != 410 {
				t.Errorf("the stalled watch ends with %v", e.Object)
			}
			return
		}
		if e.Object.Data("n") != strconv.Itoa(n) {
			t.Fatalf("event %d of the stalled watch is write %s", n, e.Object.Data("n"))
		}
	}
}
