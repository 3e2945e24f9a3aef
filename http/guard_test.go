package http

import (
	"fmt"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// guarded are watches that share an access with nobody.
func guarded(g *guard, n int) {
	for i := range n {
		g.join(&stream{}, &access{key: authn.DigestOf(fmt.Sprint(i))})
	}
}

// A watch that joins while its access is being looked at ends with the others, and one that joins
// afterwards is looked at.
func TestGuardJoin(t *testing.T) {
	var g guard
	now, key := time.Now(), authn.DigestOf("x")
	first, second, third := &stream{}, &stream{}, &stream{}
	g.join(first, &access{key: key})
	due := g.due(1, now)
	if len(due) != 1 || len(g.due(1, now)) != 0 {
		t.Fatalf("due: %v", due)
	}
	g.join(second, &access{key: key})
	if ended := g.settle(due[0], verdict{refusal: &meta.Status{}}, 1); len(ended) != 2 {
		t.Errorf("%d end", len(ended))
	}
	g.join(third, &access{key: key})
	if third.access == first.access {
		t.Error("a watch runs by an access that has ended")
	}
	g.leave(first)
	g.leave(second)
	due = g.due(1, now)
	if len(due) != 1 {
		t.Fatal("the third is not looked at")
	}
	g.settle(due[0], verdict{until: now.Add(time.Second)}, 1)
	for _, c := range []struct {
		generation uint64
		at         time.Time
		due        int
	}{{1, now, 0}, {1, now.Add(time.Second), 1}, {2, now, 1}} {
		if got := g.due(c.generation, c.at); len(got) != c.due {
			t.Errorf("generation %d, %v: %d due", c.generation, c.at.Sub(now), len(got))
		} else if c.due > 0 {
			g.settle(got[0], verdict{until: now.Add(time.Second)}, 1)
		}
	}
	g.leave(third)
	if len(g.all) != 0 {
		t.Errorf("%d accesses are kept", len(g.all))
	}
}

// BenchmarkGuardIdle is what one look costs while nothing has changed.
func BenchmarkGuardIdle(b *testing.B) {
	var g guard
	guarded(&g, 10_000)
	for _, a := range g.due(1, time.Now()) {
		g.settle(a, verdict{}, 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(g.due(1, time.Now())) != 0 {
			b.Fatal("something is due")
		}
	}
}
