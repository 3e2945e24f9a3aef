package managedfields

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSetAlgebra(t *testing.T) {
	for _, c := range []struct{ a, b, union, both, difference string }{
		{`{}`, `{}`, `{}`, `{}`, `{}`},
		{`{"f:a":{}}`, `{}`, `{"f:a":{}}`, `{}`, `{"f:a":{}}`},
		{`{}`, `{"f:a":{}}`, `{"f:a":{}}`, `{}`, `{}`},
		{`{"f:a":{}}`, `{"f:a":{}}`, `{"f:a":{}}`, `{"f:a":{}}`, `{}`},
		{`{"f:a":{},"f:c":{}}`, `{"f:b":{},"f:c":{}}`, `{"f:a":{},"f:b":{},"f:c":{}}`, `{"f:c":{}}`, `{"f:a":{}}`},
		{`{"f:a":{".":{},"f:x":{}}}`, `{"f:a":{}}`, `{"f:a":{".":{},"f:x":{}}}`, `{"f:a":{}}`, `{"f:a":{"f:x":{}}}`},
		{`{"f:a":{".":{},"f:x":{}}}`, `{"f:a":{"f:x":{}}}`, `{"f:a":{".":{},"f:x":{}}}`, `{"f:a":{"f:x":{}}}`, `{"f:a":{}}`},
		{`{"f:a":{"f:x":{}}}`, `{"f:a":{"f:x":{}}}`, `{"f:a":{"f:x":{}}}`, `{"f:a":{"f:x":{}}}`, `{}`},
		{`{"f:l":{"v:1":{},"v:\"1\"":{}}}`, `{"f:l":{"v:1":{}}}`, `{"f:l":{"v:\"1\"":{},"v:1":{}}}`, `{"f:l":{"v:1":{}}}`, `{"f:l":{"v:\"1\"":{}}}`},
	} {
		a, b := set(t, c.a), set(t, c.b)
		for name, got := range map[string][2]string{
			"union": {Union(a, b).text(), c.union}, "intersection": {Intersection(a, b).text(), c.both},
			"difference": {Difference(a, b).text(), c.difference},
		} {
			if got[0] != got[1] {
				t.Errorf("%s of %s and %s: %s, want %s", name, c.a, c.b, got[0], got[1])
			}
		}
		if !Equal(Union(a, b), Union(b, a)) || Equal(a, b) != (c.a == c.b) {
			t.Errorf("%s and %s: equality is wrong", c.a, c.b)
		}
	}
}

func TestPaths(t *testing.T) {
	s := set(t, `{"f:a":{".":{},"f:b.c":{}},"f:l":{"k:{\"name\":\"x\",\"port\":1}":{".":{},"f:i":{}},"v:\"z\"":{},"i:3":{}}}`)
	want := `.a .a.b.c .l[3] .l[name="x",port=1] .l[name="x",port=1].i .l[="z"]`
	if got := strings.Join(s.Paths(), " "); got != want {
		t.Errorf("the paths are %s, want %s", got, want)
	}
}

func TestBuilderSorts(t *testing.T) {
	var b builder
	b.add(fieldElement("b"), true, Set{})
	b.add(fieldElement("c"), false, Set{})
	b.add(fieldElement("a"), false, set(t, `{"f:x":{}}`))
	b.add(fieldElement("b"), false, set(t, `{"f:y":{}}`))
	if got, want := b.set().text(), `{"f:a":{"f:x":{}},"f:b":{".":{},"f:y":{}}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSetAlgebraOfSizes checks operations on sets of very different sizes, which use the galloping
// search.
func TestSetAlgebraOfSizes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) (Set, map[string]bool) {
		var b builder
		has := map[string]bool{}
		for range n {
			name := fmt.Sprintf("%03d", random.IntN(300))
			b.add(fieldElement(name), true, Set{})
			has["."+name] = true
		}
		return b.set(), has
	}
	for _, sizes := range [][2]int{{0, 200}, {1, 200}, {200, 1}, {3, 100}, {100, 3}, {50, 50}, {300, 300}, {7, 0}} {
		for range 50 {
			a, hasA := draw(sizes[0])
			b, hasB := draw(sizes[1])
			for name, c := range map[string]struct {
				got  Set
				want func(path string) bool
			}{
				"union":        {Union(a, b), func(p string) bool { return hasA[p] || hasB[p] }},
				"union of all": {unionAll([]Set{a, b, a, b, {}}), func(p string) bool { return hasA[p] || hasB[p] }},
				"intersection": {Intersection(a, b), func(p string) bool { return hasA[p] && hasB[p] }},
				"difference":   {Difference(a, b), func(p string) bool { return hasA[p] && !hasB[p] }},
			} {
				var want []string
				for i := range 300 {
					if p := fmt.Sprintf(".%03d", i); c.want(p) {
						want = append(want, p)
					}
				}
				if got := c.got.Paths(); !slices.Equal(got, want) {
					t.Fatalf("%s of %v and %v: %v, want %v", name, a.Paths(), b.Paths(), got, want)
				}
			}
		}
	}
}
