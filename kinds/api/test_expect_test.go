package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Expect compares the faults of a case in any order. A want that ends in … is a prefix.
func Expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	left := slices.Clone(got)
	missing := slices.ContainsFunc(want, func(w string) bool {
		begin, isPrefix := strings.CutSuffix(w, "…")
		i := slices.IndexFunc(left, func(g string) bool { return g == w || isPrefix && strings.HasPrefix(g, begin) })
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i < 0
	})
	if missing || len(left) > 0 {
		t.Errorf("%s:\n got  %s\n want %s", what, strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
}

// EqualJSON compares a part of a tree with JSON. Both sides pass through JSON, so that numbers of
// different Go types are equal.
func EqualJSON(t *testing.T, what string, got any, want string) {
	t.Helper()
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var a, w any
	if json.Unmarshal(b, &a) != nil || json.Unmarshal([]byte(want), &w) != nil {
		t.Fatalf("%s: no JSON: %s", what, want)
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(w)
	if string(x) != string(y) {
		t.Errorf("%s:\n got  %s\n want %s", what, x, y)
	}
}

// ExpectValid creates an object from each body and expects no fault.
func ExpectValid(t *testing.T, group, version, kind string, bodies ...string) {
	t.Helper()
	k := KindByGVK(t, meta.Platform, group, version, kind)
	for _, body := range bodies {
		obj := Named(k, Parse(t, body))
		obj.Object("metadata")["uid"] = "u-1"
		Expect(t, kind+" "+body[:min(len(body), 200)], Create(k, obj), nil)
	}
}

// RepeatItem repeats an item n times, separated by commas; each % becomes a different sequence of
// letters.
func RepeatItem(n int, item string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(item, "%", strings.Repeat("a", i+1))
	}
	return strings.Join(all, ",")
}
