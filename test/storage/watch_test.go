package storage

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

var views = []view{{}, {namespace: "default"}, {label: "a"}, {namespace: "other", label: "b"}, {name: "o-1-0"}, {namespace: "default", name: "o-0-2", label: "a"}}

func quick(c *daemon.Config) { c.Watches.BookmarkPeriod = daemon.Duration(100 * time.Millisecond) }

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), client.Watchdog)
	t.Cleanup(cancel)
	return ctx
}

// writeWatch writes n random changes to keys that no other writer uses. All of them must succeed.
func writeWatch(ctx context.Context, c *client.Client, seed uint64, id, n int) error {
	random := rand.New(rand.NewPCG(seed, uint64(id)))
	alive, finalized := map[string]bool{}, map[string]bool{}
	for i := range n {
		path := view{namespace: []string{"default", "other"}[random.IntN(2)]}.path()
		name := fmt.Sprintf("o-%d-%d", id, random.IntN(4))
		key := path + "/" + name
		labels := map[string]any{"tier": []any{"a", "b", nil}[random.IntN(3)]}
		patch := map[string]any{"metadata": map[string]any{"labels": labels}, "data": map[string]any{"n": strconv.Itoa(i)}}
		var answer client.Answer
		var err error
		switch at := random.IntN(10); {
		case !alive[key]:
			o := client.ConfigMap(name, map[string]string{"tier": []string{"a", "b"}[random.IntN(2)]}, map[string]string{"n": strconv.Itoa(i)})
			if finalized[key] = random.IntN(4) == 0; finalized[key] {
				o.Metadata()["finalizers"] = []string{"example.com/hold"}
			}
			alive[key] = true
			answer, err = c.Create(ctx, path, o)
		case at < 3:
			answer, err = c.Delete(ctx, key, nil)
			if finalized[key] && err == nil && answer.Code == 200 {
				patch = map[string]any{"metadata": map[string]any{"finalizers": nil}}
				answer, err = c.Patch(ctx, key, patch)
			}
			alive[key] = false
		default:
			answer, err = c.Patch(ctx, key, patch)
		}
		if err != nil {
			return err
		}
		if answer.Code > 201 {
			return fmt.Errorf("%s: %v", key, answer)
		}
	}
	return nil
}

func list(t *testing.T, c *client.Client, v view, q url.Values) (map[string]client.Object, uint64) {
	t.Helper()
	l := must.Get(c.List(within(t), v.path(), q))(t)
	return byKey(l.Items), l.Version
}

func byKey(items []client.Object) map[string]client.Object {
	state := map[string]client.Object{}
	for _, o := range items {
		o["apiVersion"], o["kind"] = "v1", "ConfigMap"
		state[o.Key()] = o
	}
	return state
}

func textWatch(state map[string]client.Object) map[string]string {
	out := map[string]string{}
	for key, o := range state {
		out[key] = o.String()
	}
	return out
}

// read reads events from a watch until a bookmark reaches version to. It checks the order of events
// and bookmarks. ends is the number of bookmarks that end the initial events.
func read(ctx context.Context, c *client.Client, v view, q url.Values, to uint64) (events []client.Event, ends int, err error) {
	q.Set("allowWatchBookmarks", "true")
	w, err := c.Watch(ctx, v.path(), q)
	if err != nil {
		return nil, 0, err
	}
	defer w.Close()
	initial := q.Get("sendInitialEvents") == "true"
	for last := uint64(0); ; {
		e, err := w.Next()
		if err != nil {
			return events, ends, err
		}
		version := e.Object.Version()
		switch {
		case e.Type == client.Error:
			return events, ends, fmt.Errorf("%v", e)
		case e.Type == client.Bookmark:
			if version < last {
				return events, ends, fmt.Errorf("bookmark %d after version %d", version, last)
			}
			if strings.Contains(e.Object.String(), "initial-events-end") {
				ends++
				initial = false
			}
			if last = version; version >= to && !initial {
				return events, ends, nil
			}
			continue
		case version <= last && !initial:
			return events, ends, fmt.Errorf("version %d after %d", version, last)
		case initial && e.Type != client.Added:
			return events, ends, fmt.Errorf("initial event %v", e)
		case !initial:
			last = version
		}
		events = append(events, e)
	}
}

func from(v view, version uint64) url.Values {
	q := v.query()
	q.Set("resourceVersion", strconv.FormatUint(version, 10))
	return q
}

// check watches every view from every version, and compares the events with the log.
func check(t *testing.T, c *client.Client, l *eventLog, versions []uint64, to uint64) {
	t.Helper()
	var running sync.WaitGroup
	for _, version := range versions {
		for _, v := range views {
			running.Go(func() {
				events, _, err := read(within(t), c, v, from(v, version), to)
				if err != nil {
					t.Errorf("%+v from %d: %v", v, version, err)
					return
				}
				var got []string
				for _, e := range events {
					// Ignore platform-public. The server's port in its ConfigMap cluster-info
					// changes across a restart.
					if !strings.HasPrefix(e.Object.Key(), "platform-public/") {
						got = append(got, line(e.Type, e.Object))
					}
				}
				if want := l.expect(v, version, to); !slices.Equal(got, want) {
					t.Errorf("%+v from %d:\n%s\nwant\n%s", v, version, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
		running.Wait()
	}
}

// TestWatchHistories compares lists, chunks and watches with a log of all commits, with many
// selectors, under load, and across a graceful restart. doc.go lists the invariants.
func TestWatchHistories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := client.Serve(t, dir, quick)
	if a, err := s.Create(within(t), "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": "other"}}); err != nil || a.Code != 201 {
		t.Fatal(a, err)
	}
	l := &eventLog{}
	l.state, l.version = list(t, s.Client, view{}, nil)
	var writers, readers sync.WaitGroup
	seed := client.Seed(t, 1)
	for id := range 3 {
		writers.Go(func() {
			if err := writeWatch(within(t), s.Client, seed, id, 150); err != nil {
				t.Error(err)
			}
		})
	}
	versions, lists := []uint64{l.version}, []map[string]string{textWatch(l.state)}
	paced, err := s.Watch(t.Context(), view{}.path(), nil)
	must.Succeed(t, err)
	readers.Go(func() {
		for {
			for range 15 { // spreads the lists over the history
				if _, err := paced.Next(); err != nil {
					return
				}
			}
			state, version := chunked(t, s.Client)
			versions, lists = append(versions, version), append(lists, textWatch(state))
		}
	})
	var streamed []client.Event
	readers.Go(func() {
		q := from(view{}, l.version)
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", "NotOlderThan")
		if _, ends, err := read(within(t), s.Client, view{}, q, l.version+200); err != nil || ends != 1 {
			t.Errorf("initial events: %d ends, %v", ends, err)
		}
	})
	writers.Wait()
	paced.Close()
	readers.Wait()
	final, to := list(t, s.Client, view{}, nil)
	if streamed, _, err = read(within(t), s.Client, view{}, from(view{}, l.version), to); err != nil {
		t.Fatal(err)
	}
	l.events = streamed
	if !maps.Equal(l.at(view{}, to), textWatch(final)) {
		t.Error("the log does not lead to the last list")
	}
	for i, version := range versions {
		if !maps.Equal(l.at(view{}, version), lists[i]) {
			t.Errorf("the list at version %d is not the log up to there", version)
		}
	}
	for i := 0; i < len(l.events); i += len(l.events)/20 + 1 {
		v, version := views[i%len(views)], l.events[i].Object.Version()
		q := from(v, version)
		q.Set("resourceVersionMatch", "Exact")
		if state, at := list(t, s.Client, v, q); at != version || !maps.Equal(textWatch(state), l.at(v, version)) {
			t.Errorf("%+v exactly at %d is another one, at %d", v, version, at)
		}
	}
	some := versions[:0:0]
	for i := 0; i < len(versions); i += len(versions)/5 + 1 {
		some = append(some, versions[i])
	}
	check(t, s.Client, l, some, to)
	s.Stop(t)
	s = client.Serve(t, dir, quick)
	check(t, s.Client, l, some, to)
	t.Logf("%d events, %d lists", len(l.events), len(lists))
}

// chunked lists objects in chunks, which must have one resource version and no duplicates.
func chunked(t *testing.T, c *client.Client) (map[string]client.Object, uint64) {
	var items []client.Object
	version, q := uint64(0), url.Values{"limit": {"3"}}
	for {
		l, err := c.List(within(t), view{}.path(), q)
		if err != nil {
			t.Error(err)
			return nil, 0
		}
		if version == 0 {
			version = l.Version
		}
		items = append(items, l.Items...)
		if l.Version != version {
			t.Errorf("a chunk at version %d of a list at %d", l.Version, version)
		}
		if q.Set("continue", l.Continue); l.Continue == "" {
			break
		}
	}
	state := byKey(items)
	if len(state) != len(items) {
		t.Errorf("%d objects, %d of them different", len(items), len(state))
	}
	return state, version
}
