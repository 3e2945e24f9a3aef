package merge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	evanphx "gopkg.in/evanphx/json-patch.v4"
	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestJSONPatch(t *testing.T) {
	const document = `{"data":{"x":"1"},"list":["a","b"],"e.com/k":{"~":1},"n":null,"big":9007199254740993}`
	golden.Run(t, "testdata/jsonpatch.txt", func(given []string) string {
		current := parse(t, document).(tree.Tree)
		got, err := JSONPatch(current, []byte(given[1]))
		if text(t, current) != text(t, parse(t, document)) {
			t.Fatalf("%s: current has changed", given[0])
		}
		return result(t, got, err)
	})
}

func result(t *testing.T, got any, err error) string {
	t.Helper()
	var s *meta.Status
	if errors.As(err, &s) {
		return fmt.Sprint(s.Code, " ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text(t, got)
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
	// Copies of a list or an object count with its content, even if an operation has changed it.
	texts, object := make([]any, 100), tree.Tree{}
	for i := range texts {
		texts[i] = strings.Repeat("x", maxCopySize/1000)
		object[fmt.Sprint(i)] = texts[i]
	}
	for _, first := range []string{"", `{"op":"add","path":"/v/l/-","value":1},`, `{"op":"add","path":"/v/o/x","value":1},`} {
		for _, from := range []string{"/v/l", "/v/o"} {
			var copies []string
			for i := range 11 {
				copies = append(copies, fmt.Sprintf(`{"op":"copy","from":%q,"path":"/c%d"}`, from, i))
			}
			for n, code := range map[int]int{8: 0, 11: 413} {
				_, err := JSONPatch(tree.Tree{"v": tree.Tree{"l": texts, "o": object}}, []byte("["+first+strings.Join(copies[:n], ",")+"]"))
				if code != 0 {
					checkCode(t, err, code)
				} else if err != nil {
					t.Errorf("%d copies of %s after %s: %v", n, from, first, err)
				}
			}
		}
	}
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

// TestJSONPatchAgrees checks random patches against a widely used implementation. They contain no
// copies, because that implementation copies absent values as null.
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
