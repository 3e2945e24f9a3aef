package extension

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestFlaps repeatedly creates and deletes a CRD while its objects and all CRDs are watched.
// Watches on custom objects end with their CRD, and the CRD watch receives every event. Memory and
// goroutines must not leak.
func TestFlaps(t *testing.T) {
	flaps := 30
	if client.Soak() {
		flaps = 1000
	}
	s := client.Open(t, func(c *daemon.Config) {
		// Expire the watch history early, because it would count as leaked memory.
		c.Watches.HistoryTime = daemon.Duration(time.Second)
	})
	const group, warmUp = "flap.example.com", 5
	all, err := s.Watch(s.Ctx, definitionDefinitions2, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	var before leftovers
	for i := range flaps {
		if i == warmUp {
			before = settled(s, group)
		}
		flap(s, group, all)
	}
	if _, err := expect(s.Ctx, s, group, false, ""); err != nil {
		t.Error(err)
	}
	client.Eventually(t, func() error {
		after := settled(s, group)
		if after.goroutines > before.goroutines+3 || client.Soak() && after.heap > before.heap+2<<20 || after.series > before.series {
			return fmt.Errorf("after %d flaps there are %+v, before %+v", flaps, after, before)
		}
		return nil
	})
	s.Send(201, "POST", definitionDefinitions2, client.JSON, definitionDefinitions(group))
	if _, err := expect(s.Ctx, s, group, true, "How large it is."); err != nil {
		t.Error(err)
	}
}

// flap creates the Widget CRD, watches widgets, and deletes the CRD. all is a watch on all CRDs,
// which must deliver the events of the Widget CRD.
func flap(s client.Session, group string, all *client.Watch) {
	s.T.Helper()
	s.Send(201, "POST", definitionDefinitions2, client.JSON, definitionDefinitions(group))
	objects := "/apis/" + group + "/v1/namespaces/default/widgets"
	var watches []*client.Watch
	for _, version := range []string{"v1", "v1beta1"} {
		w, err := s.Watch(s.Ctx, strings.Replace(objects, "/v1/", "/"+version+"/", 1), nil)
		if err != nil {
			s.T.Fatal(err)
		}
		defer w.Close()
		watches = append(watches, w)
	}
	s.Send(201, "POST", objects, client.JSON, `{"apiVersion":"`+group+`/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1}}`)
	s.Send(200, "DELETE", definitionDefinitions2+"/widgets."+group, "", "")
	for _, w := range watches {
		for _, want := range []string{client.Added, client.Deleted} {
			if e, err := w.Next(); err != nil || e.Type != want {
				s.T.Fatalf("%v, %v, want %s", e, err, want)
			}
		}
		if e, err := w.Next(); !errors.Is(err, io.EOF) {
			s.T.Fatalf("after the kind has gone: %v, %v", e, err)
		}
	}
	s.Send(404, "GET", objects+"?watch=1", "", "")
	for want := client.Added; ; {
		e, err := all.Next()
		if err != nil || e.Type != want && e.Type != client.Modified {
			s.T.Fatalf("of the definition: %v, %v, want %s", e, err, want)
		}
		if e.Type == client.Added {
			want = client.Deleted
		}
		if e.Type == client.Deleted {
			return
		}
	}
}

// leftovers are the resources that the server and the client, which share this process, still use.
// heap is in bytes, and series counts the metric series of a group.
type leftovers struct{ goroutines, heap, series int }

// settled returns the resources in use after garbage collection.
func settled(s client.Session, group string) leftovers {
	s.T.Helper()
	series := 0
	for line := range strings.Lines(string(s.Send(200, "GET", "/metrics", "", "").Body)) {
		// Ignore histogram buckets, whose number depends on measured durations.
		if strings.Contains(line, group) && !strings.Contains(line, "_bucket{") {
			series++
		}
	}
	runtime.GC()
	runtime.GC() // pools release their objects only in the second collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return leftovers{runtime.NumGoroutine(), int(m.HeapAlloc), series}
}
