package actors_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// fork opens a store on a copy of h's files, from an image of h.
func (h *testStore) fork(fs *vfs.Mem) (*testStore, *vfs.Mem) {
	h.t.Helper()
	options := persist.Options{Sync: persist.SyncNone}
	var copied *vfs.Mem
	var image *actors.Image
	must.Succeed(h.t, h.journal.Freeze(func(c persist.Checkpoint) {
		copied = fs.Fork()
		options.FS, options.Checkpoint = copied, &c
		image = must.Get(h.Image(context.Background(), uint64(c.Newest)))(h.t)
	}))
	journal := must.Get(persist.Open(h.dir, options))(h.t)
	return openLog(h.t, h.dir, journal, func(o *actors.Options) { o.Image = image }), copied
}

func (h *testStore) eventsUntil(from, last uint64) (all []string) {
	h.t.Helper()
	sink := make(eventSink, 128)
	session := must.Get(h.Watch(context.Background(), request.Watch{Kind: h.kind("configmaps"), Version: from}, sink))(h.t)
	defer session.Stop()
	for {
		select {
		case e := <-sink:
			all = append(all, fmt.Sprintf("%v %s", e.Type, e.Object.JSON))
			if e.Object.Version == last {
				return all
			}
		case <-time.After(time.Minute):
			h.t.Fatalf("only %d events", len(all))
		}
	}
}

// firstWatched returns the oldest version from which a watch can start.
func (h *testStore) firstWatched(last uint64) uint64 {
	h.t.Helper()
	for from := uint64(1); ; from++ {
		session, err := h.Watch(context.Background(), request.Watch{Kind: h.kind("configmaps"), Version: from}, make(eventSink, 128))
		if err == nil {
			session.Stop()
			return from
		}
		if from == last {
			h.t.Fatal(err)
		}
	}
}

// TestImages checks that a store that starts from an image has the state, the history and the
// unreadable objects of the other store. Both must be independent, and the files complete.
func TestImages(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			chance, seen, fs := rand.New(rand.NewPCG(seed, 7)), listsByVersion{}, vfs.NewVolatile()
			base := openOn(t, "/data", fs, nil)
			base.churn(chance, 40, seen)
			if seed%2 == 1 {
				must.Succeed(t, base.Snapshot())
			}
			base.churn(chance, 20, seen)
			base.close()
			appendUnreadable(t, "/data", fs, persist.Write{Key: "/configmaps/default/spoilt", Value: []byte("{"), RevisionOffset: -1})
			base = openOn(t, "/data", fs, func(o *actors.Options) { o.Tuning.HistoryBytes = 8 << 10 })
			base.churn(chance, 20, seen)
			last := must.Get(base.create("last", "x"))(t).Object.Version

			fork, copied := base.fork(fs)
			ofFork := maps.Clone(seen)
			for from := last - 10; from < last; from++ {
				if want, got := base.eventsUntil(from, last), fork.eventsUntil(from, last); !slices.Equal(got, want) {
					t.Errorf("the events after version %d are\n%q\nwant\n%q", from, got, want)
				}
			}
			if want, got := base.firstWatched(last), fork.firstWatched(last); want == 1 || got != want {
				t.Errorf("watches can start at %d, want %d", got, want)
			}
			if want, gone := base.checkLists(seen), fork.checkLists(seen); gone != want {
				t.Errorf("%d versions are gone, want %d", gone, want)
			}
			a, b := base.list(request.List{}).Items[0], fork.list(request.List{}).Items[0]
			if a == b || &a.JSON[0] != &b.JSON[0] {
				t.Error("the stores share an object with its memo, or do not share its JSON")
			}
			base.churn(chance, 20, seen)
			fork.churn(chance, 20, ofFork)
			if a, b := base.Unreadable(), fork.Unreadable(); len(b) != 1 || a[0] != b[0] {
				t.Errorf("unreadable are %v, want %v", b, a)
			}
			second, _ := fork.fork(copied)
			second.checkLists(ofFork)
			second.close()
			base.checkLists(seen)
			base.close()
			fork.close()
			fork = openOn(t, "/data", copied, nil)
			fork.checkLists(ofFork)
			fork.close()
		})
	}
}
