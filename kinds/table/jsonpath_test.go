package table

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestJSONPath(t *testing.T) {
	const object = `{"spec":{"n":3,"f":2.5,"s":"text","l":["a","b",{"c":"d"}],"a.b":"dotted","t":true,"x":null,"a\u003cb":"less","q\"":"quote"},
		"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Other","status":"False","n":2}]}}`
	golden.Run(t, "testdata/jsonpath.txt", func(given []string) string {
		kind, path, _ := strings.Cut(given[0], " ")
		return string(showJSON(kind, path)(nil, rowOf(&meta.Object{JSON: []byte(object)}), ""))
	})
}

// TestPathWork checks that a row's work limit, shared by all its cells, stops repeated recursive
// descents, which would otherwise take exponential time.
func TestPathWork(t *testing.T) {
	object := &meta.Object{JSON: []byte(`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}")}
	for _, path := range []string{`..*..*..*..*..*..b`, `..[?(@..*..*..*..*..b)].c`, `..*..*..*..['b','c','d']`} {
		r := rowOf(object)
		if got := string(showJSON("string", path)(nil, r, "")); got != "null" || r.work > 0 {
			t.Errorf("%s: %s, %d steps are left", path, got, r.work)
		}
		if got := string(showJSON("string", ".a")(nil, r, "")); got != "null" {
			t.Errorf("%s: another cell shows %s", path, got)
		}
	}
}
