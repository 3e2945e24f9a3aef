package stream

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

func addWatches(r *Registry, n int) {
	for i := range n {
		r.Add(&Watch{}, &Grant{Key: authn.DigestOf(fmt.Sprint(i))})
	}
}

// TestAddWhileChecking checks that a watch added during a check of its grant is revoked with the
// others, and that a watch added later gets a new grant.
func TestAddWhileChecking(t *testing.T) {
	g := NewRegistry(slog.New(slog.DiscardHandler))
	now, key := time.Now(), authn.DigestOf("x")
	first, second, third := &Watch{}, &Watch{}, &Watch{}
	g.Add(first, &Grant{Key: key})
	due := g.due(1, now)
	if len(due) != 1 || len(g.due(1, now)) != 0 {
		t.Fatalf("due: %v", due)
	}
	g.Add(second, &Grant{Key: key})
	if ended := g.apply(due[0], Verdict{Refusal: &meta.Status{}}, 1); len(ended) != 2 {
		t.Errorf("%d end", len(ended))
	}
	g.Add(third, &Grant{Key: key})
	if g.open[third] == g.open[first] {
		t.Error("a watch runs by a grant that has ended")
	}
	g.Remove(first)
	g.Remove(second)
	due = g.due(1, now)
	if len(due) != 1 {
		t.Fatal("the third is not looked at")
	}
	g.apply(due[0], Verdict{ValidUntil: now.Add(time.Second)}, 1)
	for _, c := range []struct {
		generation uint64
		at         time.Time
		due        int
	}{{1, now, 0}, {1, now.Add(time.Second), 1}, {2, now, 1}} {
		if got := g.due(c.generation, c.at); len(got) != c.due {
			t.Errorf("generation %d, %v: %d due", c.generation, c.at.Sub(now), len(got))
		} else if c.due > 0 {
			g.apply(got[0], Verdict{ValidUntil: now.Add(time.Second)}, 1)
		}
	}
	g.Remove(third)
	if len(g.grants) != 0 {
		t.Errorf("%d grants are kept", len(g.grants))
	}
}

func BenchmarkReauthorizeIdle(b *testing.B) {
	g := NewRegistry(slog.New(slog.DiscardHandler))
	addWatches(g, 10_000)
	for _, a := range g.due(1, time.Now()) {
		g.apply(a, Verdict{}, 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(g.due(1, time.Now())) != 0 {
			b.Fatal("something is due")
		}
	}
}
