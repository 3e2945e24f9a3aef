package managedfields

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/cache"
)

func TestParseCacheEvicts(t *testing.T) {
	m := cache.New[parseCacheKey, parsedSet](parseCacheSize)
	plan := plan()
	reading := func(i int) parsedSet {
		return parseReconciled(fmt.Sprintf(`{"f:map":{"f:%d":{},"f:%s":{}}}`, i, strings.Repeat("x", 1000)), plan)
	}
	first := reading(0)
	for i := range 10 * parseCacheSize / 1000 {
		r := reading(i)
		m.Put(parseCacheKey{r.text, plan}, r, len(r.text))
		if got, ok := m.Get(parseCacheKey{r.text, plan}); !ok || !sameRef(got.set, r.set) {
			t.Fatalf("what was read is forgotten at once: %v %v", got, ok)
		}
		if _, ok := m.Get(parseCacheKey{r.text, nil}); ok {
			t.Fatal("what was read under one plan is taken for another's")
		}
		if got, ok := m.Get(parseCacheKey{first.text, plan}); !ok || got.text != first.text {
			t.Fatalf("what is used all the time is forgotten after %d texts", i)
		}
	}
	if n := m.Len(); n > parseCacheSize/1000 {
		t.Errorf("%d texts are remembered", n)
	}
	if _, ok := m.Get(parseCacheKey{reading(1).text, plan}); ok {
		t.Error("nothing is forgotten")
	}
}

func TestParseCached(t *testing.T) {
	plan := plan()
	for text, want := range map[string]struct {
		set         string
		news, exact bool
	}{
		`{"f:text":{}}`:                        {`{"f:text":{}}`, false, true},
		`{"f:text": {}}`:                       {`{"f:text":{}}`, false, false},
		`{"f:text":{},"f:set":{"v:\"a\"":{}}}`: {`{"f:set":{"v:\"a\"":{}},"f:text":{}}`, false, false},
		`{"f:unit":{".":{},"f:x":{}}}`:         {`{"f:unit":{}}`, true, false},
		`[`:                                    {`{}`, false, false},
	} {
		for range 2 { // first parsed, then from the cache
			if r := parseCached(text, plan); r.set.text() != want.set || r.reconciled != want.news || r.canonical != want.exact {
				t.Errorf("%s is read as %s, news %v, exact %v", text, r.set.text(), r.reconciled, r.canonical)
			}
		}
	}
}
