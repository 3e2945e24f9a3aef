package actors_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

type listsByVersion map[uint64][]string

func listText(items []*meta.Object) []string {
	var lines []string
	for _, o := range items {
		lines = append(lines, string(o.JSON))
	}
	return lines
}

func (h *testStore) churn(chance *rand.Rand, steps int, seen listsByVersion) {
	h.t.Helper()
	for range steps {
		name := fmt.Sprint("c", chance.IntN(8))
		var err error
		switch chance.IntN(4) {
		case 0:
			_, err = h.do(request.Mutation{Change: request.Delete{}, Key: meta.Key{Name: name}})
		case 1:
			_, err = h.patch(name, fmt.Sprintf(`{"metadata":{"labels":{"l":"%d"}}}`, chance.IntN(3)))
		case 2:
			_, err = h.patch(name, fmt.Sprintf(`{"data":{"v":"%d"}}`, chance.IntN(1000)))
		default:
			_, err = h.create(name, "new")
		}
		if c := statusCode(err); c != 0 && c != 404 && c != 409 {
			h.t.Fatal(err)
		}
		l := h.list(request.List{})
		seen[l.Version] = listText(l.Items)
	}
}

// checkLists lists the objects at each recorded version with resourceVersionMatch=Exact and checks
// the result. It returns the number of expired versions (410).
func (h *testStore) checkLists(seen listsByVersion) (gone int) {
	h.t.Helper()
	for _, version := range slices.Sorted(maps.Keys(seen)) {
		l, err := h.List(context.Background(), request.List{Kind: h.kind("configmaps"), Match: request.MatchExact, Version: version})
		if statusCode(err) == 410 {
			gone++
			continue
		}
		must.Succeed(h.t, err)
		if l.Version != version || !slices.Equal(listText(l.Items), seen[version]) {
			h.t.Fatalf("version %d shows\n%s\nwant\n%s", version, strings.Join(listText(l.Items), "\n"), strings.Join(seen[version], "\n"))
		}
	}
	return gone
}

// TestExactLists checks that a list with resourceVersionMatch=Exact returns the objects as of that
// version, even after snapshots and restarts.
func TestExactLists(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			chance, seen, dir := rand.New(rand.NewPCG(seed, 7)), listsByVersion{}, t.TempDir()
			h := open(t, dir, nil)
			h.churn(chance, 60, seen)
			if gone := h.checkLists(seen); gone > 0 {
				t.Errorf("%d versions are gone before a restart", gone)
			}
			must.Succeed(t, h.Snapshot())
			h.churn(chance, 60, seen)
			h.close()
			h = open(t, dir, nil)
			defer h.close()
			h.churn(chance, 20, seen)
			if gone := h.checkLists(seen); gone > len(seen)/2 {
				t.Errorf("%d of %d versions are gone after a restart", gone, len(seen))
			}
		})
	}
}

func TestChunksAreOneSnapshot(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	defer h.close()
	chance, seen := rand.New(rand.NewPCG(1, 1)), listsByVersion{}
	for i := range 8 {
		must.Get(h.create(fmt.Sprint("c", i), "x"))(t)
	}
	first := h.list(request.List{})
	r := request.List{Limit: 3}
	var got []*meta.Object
	for {
		l := h.list(r)
		if l.Version != first.Version {
			t.Fatalf("chunk at version %d, want %d", l.Version, first.Version)
		}
		got = append(got, l.Items...)
		if want := int64(len(first.Items) - len(got)); l.Continue != "" && l.Remaining != want {
			t.Errorf("%d remain, want %d", l.Remaining, want)
		}
		if l.Continue == "" {
			break
		}
		r = request.List{Limit: 3, Continue: l.Continue}
		h.churn(chance, 10, seen)
	}
	if !slices.Equal(listText(got), listText(first.Items)) {
		t.Errorf("chunks\n%s\nwant\n%s", listText(got), listText(first.Items))
	}
	// A continue token for another kind must be rejected.
	forged := request.List{Kind: h.kind("secrets"), Limit: 3, Continue: h.list(request.List{Limit: 3}).Continue}
	if _, err := h.List(context.Background(), forged); statusCode(err) != 400 {
		t.Errorf("a token of another kind: %v, want 400", err)
	}
}

// TestExactBeforeHistory checks that after a restart without history, an exact list at an earlier
// version returns 410 instead of the current objects.
func TestExactBeforeHistory(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, nil)
	for i := range 4 {
		must.Get(h.create(fmt.Sprint("c", i), "before"))(t)
	}
	chunk := h.list(request.List{Limit: 2})
	must.Get(h.patch("c3", `{"data":{"v":"after"}}`))(t)
	must.Succeed(t, h.Snapshot())
	h.close()
	h = open(t, dir, func(o *actors.Options) { o.Tuning.HistoryTime = time.Nanosecond })
	defer h.close()
	for name, r := range map[string]request.List{
		"exactly": {Match: request.MatchExact, Version: chunk.Version}, "the next chunk": {Continue: chunk.Continue},
	} {
		r.Kind = h.kind("configmaps")
		if l, err := h.List(context.Background(), r); statusCode(err) != 410 {
			t.Errorf("%s: %v, %v, want 410", name, listText(l.Items), err)
		}
	}
	if l, err := h.List(context.Background(), request.List{Kind: h.kind("configmaps"), Match: request.MatchExact, Version: h.Version()}); err != nil || len(l.Items) != 4 {
		t.Errorf("at the newest version: %v, %v", l, err)
	}
}

// TestTokensExpire checks that continue tokens expire with the history even if nothing changes, and
// that an expired list can continue at the newest version.
func TestTokensExpire(t *testing.T) {
	t.Parallel()
	h := open(t, t.TempDir(), func(o *actors.Options) { o.Tuning.HistoryTime = time.Nanosecond })
	defer h.close()
	for i := range 6 {
		must.Get(h.create(fmt.Sprint("c", i), "v"))(t)
	}
	kind := h.kind("configmaps")
	chunk := h.list(request.List{Limit: 2})
	_, err := h.List(context.Background(), request.List{Kind: kind, Limit: 2, Continue: chunk.Continue})
	var status *meta.Status
	if !errors.As(err, &status) || status.Code != 410 || status.Continue == "" {
		t.Fatalf("the second chunk: %v, want 410 with a token", err)
	}
	l, err := h.List(context.Background(), request.List{Kind: kind, Limit: 2, Continue: status.Continue})
	if err != nil || len(l.Items) != 2 || l.Items[0].Key.Name != "c2" || l.Continue == "" {
		t.Errorf("the second chunk of the newest state: %v, %v", listText(l.Items), err)
	}
}
