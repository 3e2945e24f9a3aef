package http

import (
	"fmt"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// addWatches are watches that share an access with nobody.
func addWatches(g *reauthorizer, n int) {
	for i := range n {
		g.add(&watchStream{}, &watchGrant{key: authn.DigestOf(fmt.Sprint(i))})
	}
}

// A watch that joins while its access is being looked at ends with the others, and one that joins
// afterwards is looked at.
func TestReauthorizerAdd(t *testing.T) {
	var g reauthorizer
	now, key := time.Now(), authn.DigestOf("x")
	first, second, third := &watchStream{}, &watchStream{}, &watchStream{}
	g.add(first, &watchGrant{key: key})
	due := g.due(1, now)
	if len(due) != 1 || len(g.due(1, now)) != 0 {
		t.Fatalf("due: %v", due)
	}
	g.add(second, &watchGrant{key: key})
	if ended := g.apply(due[0], checkResult{refusal: &meta.Status{}}, 1); len(ended) != 2 {
		t.Errorf("%d end", len(ended))
	}
	g.add(third, &watchGrant{key: key})
	if third.grant == first.grant {
		t.Error("a watch runs by an access that has ended")
	}
	g.remove(first)
	g.remove(second)
	due = g.due(1, now)
	if len(due) != 1 {
		t.Fatal("the third is not looked at")
	}
	g.apply(due[0], checkResult{validUntil: now.Add(time.Second)}, 1)
	for _, c := range []struct {
		generation uint64
		at         time.Time
		due        int
	}{{1, now, 0}, {1, now.Add(time.Second), 1}, {2, now, 1}} {
		if got := g.due(c.generation, c.at); len(got) != c.due {
			t.Errorf("generation %d, %v: %d due", c.generation, c.at.Sub(now), len(got))
		} else if c.due > 0 {
			g.apply(got[0], checkResult{validUntil: now.Add(time.Second)}, 1)
		}
	}
	g.remove(third)
	if len(g.grants) != 0 {
		t.Errorf("%d accesses are kept", len(g.grants))
	}
}

// BenchmarkReauthorizerIdle is what one look costs while nothing has changed.
func BenchmarkReauthorizerIdle(b *testing.B) {
	var g reauthorizer
	addWatches(&g, 10_000)
	for _, a := range g.due(1, time.Now()) {
		g.apply(a, checkResult{}, 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(g.due(1, time.Now())) != 0 {
			b.Fatal("something is due")
		}
	}
}
