package merge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	evanphx "gopkg.in/evanphx/json-patch.v4"
	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestJSONPatch(t *testing.T) {
	const current = `{"data":{"x":"1"},"list":["a","b"],"e.com/k":{"~":1},"n":null,"big":9007199254740993}`
	for _, c := range []struct {
		name, patch, want string
		code              int
	}{
		{"add a field", `[{"op":"add","path":"/data/y","value":"2"}]`, `{"data":{"x":"1","y":"2"}}`, 0},
		{"add over a field", `[{"op":"add","path":"/data/x","value":2}]`, `{"data":{"x":2}}`, 0},
		{"insert", `[{"op":"add","path":"/list/1","value":"c"}]`, `{"list":["a","c","b"]}`, 0},
		{"insert at the end", `[{"op":"add","path":"/list/2","value":"c"}]`, `{"list":["a","b","c"]}`, 0},
		{"append", `[{"op":"add","path":"/list/-","value":"c"}]`, `{"list":["a","b","c"]}`, 0},
		{"replace escaped", `[{"op":"replace","path":"/e.com~1k/~0","value":2}]`, `{"e.com/k":{"~":2}}`, 0},
		{"remove item", `[{"op":"remove","path":"/list/0"}]`, `{"list":["b"]}`, 0},
		{"move", `[{"op":"move","from":"/list/0","path":"/data/x"}]`, `{"data":{"x":"a"},"list":["b"]}`, 0},
		{"move within a list", `[{"op":"move","from":"/list/0","path":"/list/1"}]`, `{"list":["b","a"]}`, 0},
		{"move onto itself", `[{"op":"move","from":"/data","path":"/data"}]`, `{}`, 0},
		{"copy is independent", `[{"op":"copy","from":"/data","path":"/d2"},{"op":"add","path":"/d2/z","value":1}]`, `{"d2":{"x":"1","z":1}}`, 0},
		{"test then change", `[{"op":"test","path":"/data","value":{"x":"1"}},{"op":"replace","path":"/data/x","value":"3"}]`, `{"data":{"x":"3"}}`, 0},
		{"test number exactly", `[{"op":"test","path":"/big","value":9007199254740993}]`, `{}`, 0},
		{"test number by value", `[{"op":"add","path":"/n","value":1},{"op":"test","path":"/n","value":1.0}]`, `{"n":1}`, 0},
		{"test absent as null", `[{"op":"test","path":"/nope","value":null}]`, `{}`, 0},
		{"null value", `[{"op":"add","path":"/m","value":null}]`, `{"m":null}`, 0},
		{"whole document", `[{"op":"replace","path":"","value":{"a":1}}]`, `={"a":1}`, 0},

		{"test fails", `[{"op":"test","path":"/data/x","value":"9"}]`, ``, 422},
		{"test big fails", `[{"op":"test","path":"/big","value":9007199254740992}]`, ``, 422},
		{"test deep absent", `[{"op":"test","path":"/nope/x","value":null}]`, ``, 422},
		{"replace absent field", `[{"op":"replace","path":"/m","value":1}]`, `{"m":1}`, 0},
		{"replace below absent", `[{"op":"replace","path":"/nope/x","value":1}]`, ``, 422},
		{"replace absent item", `[{"op":"replace","path":"/list/2","value":1}]`, ``, 422},
		{"copy absent", `[{"op":"copy","from":"/nope","path":"/a"}]`, ``, 422},
		{"remove absent", `[{"op":"remove","path":"/nope"}]`, ``, 422},
		{"add below absent", `[{"op":"add","path":"/nope/x","value":1}]`, ``, 422},
		{"add below scalar", `[{"op":"add","path":"/data/x/y","value":1}]`, ``, 422},
		{"index too far", `[{"op":"add","path":"/list/3","value":1}]`, ``, 422},
		{"index with zero", `[{"op":"replace","path":"/list/01","value":1}]`, ``, 422},
		{"index huge", `[{"op":"remove","path":"/list/99999999999999999999"}]`, ``, 422},
		{"end is no item", `[{"op":"remove","path":"/list/-"}]`, ``, 422},
		{"move into itself", `[{"op":"move","from":"/data","path":"/data/x"}]`, ``, 422},
		{"remove all", `[{"op":"remove","path":""}]`, ``, 422},
		{"no object left", `[{"op":"replace","path":"","value":[1]}]`, ``, 422},

		{"malformed", `[{`, ``, 400},
		{"no list", `{"op":"add"}`, ``, 400},
		{"unknown operation", `[{"op":"frob","path":"/a"}]`, ``, 422},
		{"no path", `[{"op":"remove"}]`, ``, 422},
		{"no value", `[{"op":"add","path":"/a"}]`, ``, 422},
		{"no from", `[{"op":"move","path":"/a"}]`, ``, 422},
		{"bad pointer", `[{"op":"remove","path":"a"}]`, ``, 422},
		{"number too large", `[{"op":"add","path":"/a","value":1e999}]`, ``, 422},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := parse(t, current).(tree.Tree)
			got, err := JSONPatch(tree, []byte(c.patch))
			if text(t, tree) != text(t, parse(t, current)) {
				t.Fatal("current has changed")
			}
			if c.code != 0 {
				checkCode(t, err, c.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := expected(t, current, c.want)
			if text(t, got) != text(t, want) {
				t.Errorf("got %s, want %s", text(t, got), text(t, want))
			}
		})
	}
}

// expected returns current with the fields of want set; "=" means want alone.
func expected(t *testing.T, current, want string) any {
	if whole, ok := strings.CutPrefix(want, "="); ok {
		return parse(t, whole)
	}
	out := parse(t, current).(tree.Tree)
	for k, v := range parse(t, want).(tree.Tree) {
		out[k] = v
	}
	return out
}

func checkCode(t *testing.T, err error, code int) {
	t.Helper()
	var s *meta.Status
	if !errors.As(err, &s) || s.Code != code {
		t.Fatalf("got %v, want a Status of code %d", err, code)
	}
}

func TestJSONPatchLimits(t *testing.T) {
	one := `{"op":"test","path":"","value":{}}`
	many := "[" + strings.Repeat(one+",", MaxOperations) + one + "]"
	_, err := JSONPatch(tree.Tree{}, []byte(many))
	checkCode(t, err, 413)
	if want := "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	_, err = JSONPatch(tree.Tree{}, []byte("["+strings.Repeat(one+",", MaxOperations-1)+one+"]"))
	if err != nil {
		t.Errorf("%d operations: %v", MaxOperations, err)
	}
	var ops []string
	for i := range 40 {
		ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"","path":"/c%d"}`, i))
	}
	_, err = JSONPatch(tree.Tree{"a": "x"}, []byte("["+strings.Join(ops, ",")+"]"))
	checkCode(t, err, 413)
	list := make([]any, 100_000)
	for _, c := range []struct {
		operation string
		code      int // 0 for success
	}{
		{`{"op":"add","path":"/l/0","value":1}`, 413},
		{`{"op":"remove","path":"/l/0"}`, 413},
		{`{"op":"move","from":"/l/0","path":"/l/-"}`, 413},
		{`{"op":"add","path":"/l/-","value":1}`, 0},
		{`{"op":"replace","path":"/l/0","value":1}`, 0},
		{`{"op":"move","from":"/l/99999","path":"/l/99999"}`, 0},
	} {
		_, err := JSONPatch(tree.Tree{"l": list}, []byte("["+strings.Repeat(c.operation+",", MaxOperations-1)+c.operation+"]"))
		if c.code == 0 && err != nil {
			t.Errorf("%s: %v", c.operation, err)
		} else if c.code != 0 {
			checkCode(t, err, c.code)
		}
	}
}

// TestJSONPatchAgrees compares random patches with a well-known implementation, except for copies,
// which there turn absent values into null.
func TestJSONPatchAgrees(t *testing.T) {
	paths := rapid.SampledFrom([]string{"/a", "/b", "/a/b", "/a/0", "/a/1", "/a/-", "/b/a/c", "/d~1~0", "/d~1~0/a", "/c/0/a"})
	rapid.Check(t, func(r *rapid.T) {
		current := anyObject(false).Draw(r, "current")
		before := text(t, current)
		var ops []tree.Tree
		for range rapid.IntRange(1, 4).Draw(r, "operations") {
			op := tree.Tree{
				"op":   rapid.SampledFrom([]string{"add", "remove", "replace", "move"}).Draw(r, "op"),
				"path": paths.Draw(r, "path"), "from": paths.Draw(r, "from"),
				"value": anyValue(false).Draw(r, "value"),
			}
			if op["op"] == "move" && strings.HasPrefix(op["path"].(string), op["from"].(string)) {
				continue // implementations differ on moves into or onto the source
			}
			ops = append(ops, op)
		}
		patch, _ := json.Marshal(ops)
		if ops == nil {
			patch = []byte("[]")
		}
		got, err := JSONPatch(current, patch)
		if text(t, current) != before {
			r.Fatalf("current has changed to %s", text(t, current))
		}
		decoded, _ := evanphx.DecodePatch(patch)
		want, wantErr := decoded.Apply([]byte(before))
		if (err == nil) != (wantErr == nil) {
			r.Fatalf("%s + %s: %v, but the other says %v", before, patch, err, wantErr)
		}
		if err == nil && !tree.JSONEqual(any(got), parse(t, string(want))) {
			r.Fatalf("%s + %s = %s, want %s", before, patch, text(t, got), want)
		}
	})
}
