package merge

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

var objects = []string{
	`{}`, `{"data":{"a":"1","b":"2"}}`, `{"secrets":[{"name":"a","v":"1"},{"name":"b"}],"ports":[{"port":1},{"port":2,"x":"y"}],"set":["a","b"],"args":["x"]}`,
	`{"one":{"name":"a","v":"1"},"atomic":{"labels":{"a":"b"}}}`,
}

// FuzzJSONPatch checks that a patch either fails with a client error or yields a tree that can be
// encoded and decoded. The input must not change. Other fuzz tests check other patch types.
func FuzzJSONPatch(f *testing.F) {
	for i, patch := range []string{
		`[]`, `[{"op":"add","path":"/data/c","value":1.5}]`, `[{"op":"remove","path":"/secrets/1"}]`, `[{"op":"test","path":"","value":{}}]`, `[{"op":"copy","from":"/ports","path":"/ports/-"}]`,
		`[{"op":"move","from":"/data","path":"/data/a"}]`, `[{"op":"replace","path":"/a~1b~0","value":null}]`, `[{"op":"add","path":"","value":[]}]`,
	} {
		f.Add(uint8(i), []byte(patch))
	}
	f.Fuzz(func(t *testing.T, target uint8, patch []byte) {
		check(t, target, func(current tree.Tree) (tree.Tree, error) { return JSONPatch(current, patch) })
	})
}

func FuzzMerge(f *testing.F) {
	for i, patch := range []string{`{}`, `{"data":{"a":null}}`, `{"data":null,"x":[null,{"y":null}]}`, `{"ports":{"a":1}}`} {
		f.Add(uint8(i), []byte(patch))
	}
	f.Fuzz(func(t *testing.T, target uint8, patch []byte) {
		check(t, target, func(current tree.Tree) (tree.Tree, error) {
			body, err := decoded(patch)
			if err != nil {
				return nil, err
			}
			return Merge(current, body).(tree.Tree), nil
		})
	})
}

func FuzzStrategic(f *testing.F) {
	for i, patch := range []string{
		`{}`, `{"secrets":[{"name":"a","$patch":"delete"},{"name":"c"}],"$setElementOrder/secrets":[{"name":"c"},{"name":"a"}]}`, `{"$deleteFromPrimitiveList/set":["a"],"set":["c"]}`,
		`{"one":{"$retainKeys":["name"],"name":"b"}}`, `{"ports":[{"$patch":"replace"},{"port":3}]}`, `{"$patch":"replace","data":{}}`, `{"data":{"$patch":"delete"}}`, `{"set":[[]],"args":null}`,
	} {
		f.Add(uint8(i), []byte(patch))
	}
	f.Fuzz(func(t *testing.T, target uint8, patch []byte) {
		check(t, target, func(current tree.Tree) (tree.Tree, error) {
			body, err := decoded(patch)
			if err != nil {
				return nil, err
			}
			return Strategic(plan(), current, body)
		})
	})
}

func decoded(patch []byte) (tree.Tree, error) {
	v, _, err := codec.DecodeAny(patch)
	if body, ok := v.(tree.Tree); ok && err == nil {
		return body, nil
	}
	return nil, newBadPatch("no object")
}

func check(t *testing.T, target uint8, patch func(tree.Tree) (tree.Tree, error)) {
	text := objects[int(target)%len(objects)]
	current := parse(t, text).(tree.Tree)
	got, err := patch(current)
	if !tree.JSONEqual(current, parse(t, text)) {
		t.Fatalf("what was patched is now %v", current)
	}
	if err != nil {
		if code := meta.AsStatus(err).Code; code < 400 || code >= 500 {
			t.Fatalf("refused by %d %v", code, err)
		}
		return
	}
	written := codec.AppendAny(nil, got)
	read, _, err := codec.DecodeAny(written)
	if err != nil || !tree.JSONEqual(read, got) {
		t.Fatalf("%s reads as %v (%v)", written, read, err)
	}
}
