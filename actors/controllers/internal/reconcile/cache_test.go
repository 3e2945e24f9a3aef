package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

func object(name, uid string, version uint64, owner string) *meta.Object {
	o := &meta.Object{Key: meta.Key{Namespace: "n", Name: name}, Version: version, Meta: meta.ObjectMeta{UID: uid}}
	if owner != "" {
		o.Meta.OwnerReferences = []meta.OwnerReference{{UID: owner, Controller: true}}
	}
	return o
}

func TestHandlersEnd(t *testing.T) {
	cache := newCache(Client{}, func(o *meta.Object) *Item { return &Item{Head: NewHead(o)} })
	cache.OnEvent(Event{Object: object("a", "1", 5, "")})
	e := &Env{events: newEventWriter(Client{}, slog.New(slog.DiscardHandler))}
	for range 3 { // once per term of leadership
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := New(e, "", func(context.Context, meta.Key) error { cancel(); return nil }, "", "")
		Follow(c, cache)
		c.Run(ctx) // ends after the key of the known object
		if n := len(cache.handlers); n != 0 {
			t.Fatalf("%d handlers of controllers that have ended", n)
		}
	}
}

// TestCache checks that the newer of two versions wins, and that late versions do not restore
// deleted objects.
func TestCache(t *testing.T) {
	c := newCache(Client{}, func(o *meta.Object) *Item { return &Item{Head: NewHead(o)} })
	var observed []string
	c.Subscribe(func(old, now *Item) {
		version := func(p *Item) string {
			if p == nil {
				return "-"
			}
			return fmt.Sprint(p.Key.Name, p.Version)
		}
		observed = append(observed, version(old)+">"+version(now))
	})
	c.Written(Event{Object: object("a", "1", 5, "x")}) // a response
	c.OnEvent(Event{Object: object("a", "1", 5, "x")}) // the same from the watch
	c.OnEvent(Event{Object: object("a", "1", 4, "")})  // late
	c.Written(Event{Object: object("a", "1", 7, "y")})
	c.OnEvent(Event{Object: object("a", "1", 6, "x")})
	if got := len(c.OwnedBy("x")); got != 0 {
		t.Errorf("%d Pods of a former owner", got)
	}
	c.Written(Event{Object: object("a", "1", 9, "y"), Deleted: true})
	c.OnEvent(Event{Object: object("a", "1", 8, "y")}) // a state before the delete
	c.OnEvent(Event{Object: object("a", "1", 9, "y"), Deleted: true})
	c.Written(Event{Object: object("a", "2", 11, "")}) // another object of that name
	c.Written(Event{Object: object("b", "3", 12, "")})
	c.Written(Event{Object: object("b", "3", 13, ""), Deleted: true})
	c.Written(Event{Object: object("b", "4", 15, "")})
	c.OnEvent(Event{Object: object("b", "3", 12, "")})
	c.OnEvent(Event{Object: object("b", "3", 13, ""), Deleted: true}) // of the former object
	want := []string{"->a5", "a5>a7", "a7>-", "->a11", "->b12", "b12>-", "->b15"}
	if !slices.Equal(observed, want) {
		t.Errorf("observed %q, want %q", observed, want)
	}
	if got := len(c.Orphans("n")); got != 2 || len(c.gone) != 0 || len(c.owned) != 1 {
		t.Errorf("%d orphans, %d deletes are remembered, %d owners", got, len(c.gone), len(c.owned))
	}
	c.Written(Event{Object: object("d", "5", 20, "")})
	c.OnEvent(Event{Object: object("d", "5", 22, ""), Deleted: true})
	observed = nil
	c.Written(Event{Object: object("d", "5", 21, "")}) // the response arrives after the watch event of the delete
	c.Written(Event{Object: object("d", "5", 22, ""), Deleted: true})
	if len(observed) != 0 || c.Get(object("d", "", 0, "").Key) != nil || len(c.gone) != 0 {
		t.Errorf("a late response: observed %q, %d deletes are remembered", observed, len(c.gone))
	}
	c.OnEvent(Event{Object: &meta.Object{Key: object("a", "", 0, "").Key}, Deleted: true}) // between two watches
	var late []string
	c.Subscribe(func(_, now *Item) { late = append(late, now.Key.Name) })
	if !slices.Equal(late, []string{"b"}) {
		t.Errorf("a late handler observes %q", late)
	}
}

// TestEvents checks that equal Events are counted, that similar Events are combined, and that the
// rate of Events per object is limited.
func TestEvents(t *testing.T) {
	w := newEventWriter(Client{}, nil)
	e := event{component: "c", kind: Warning, reason: "R", about: about{Name: "o"}, at: time.Unix(1_000_000, 0)}
	combined := 0
	for i := range 15 {
		e.message = fmt.Sprint("message ", i)
		if _, observed := w.combine(e); observed.message != e.message {
			combined++
		}
	}
	if combined != 15-maxSimilar {
		t.Errorf("%d of 15 are combined", combined)
	}
	n := 0
	for range 100 {
		if w.allows(e) {
			n++
		}
	}
	other := e
	other.about.Name = "p"
	if n != eventBurst || !w.allows(other) {
		t.Errorf("%d Events of one object", n)
	}
	if e.at = e.at.Add(eventInterval + eventInterval/2); !w.allows(e) || w.allows(e) {
		t.Error("there is no further Event after a while, or too many")
	}
}
