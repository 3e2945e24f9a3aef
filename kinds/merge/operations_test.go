package merge_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/merge"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestOperations(t *testing.T) {
	for _, c := range []struct {
		operations []merge.Operation
		want       string
	}{
		{[]merge.Operation{{Op: "add", Path: "/a/b", Value: int64(1), HasValue: true}}, `{"a":{"b":1},"l":["x"]}`},
		{[]merge.Operation{{Op: "add", Path: "/l/0", HasValue: true}}, `{"a":{},"l":[null,"x"]}`},
		{[]merge.Operation{{Op: "test", Path: "/l/0", Value: "x", HasValue: true}, {Op: "remove", Path: "/a"}}, `{"l":["x"]}`},
		{[]merge.Operation{{Op: "copy", From: "/l", Path: "/a/l"}, {Op: "move", From: "/l", Path: "/m"}}, `{"a":{"l":["x"]},"m":["x"]}`},
		{[]merge.Operation{{Op: "remove", Path: "/a"}, {Op: "test", Path: "/l/0", Value: "y", HasValue: true}}, "testing value failed"},
		{[]merge.Operation{{Op: "add", Path: "/n/b", HasValue: true}}, `add operation does not apply: "/n/b": the parent of path does not exist`},
		{[]merge.Operation{{Op: "add", Path: "/a"}}, "missing value"},
		{[]merge.Operation{{Op: "grow", Path: "/a"}}, "unknown operation"},
		{make([]merge.Operation, merge.MaxOperations+1), "the allowed maximum operations in a JSON patch is 10000, got 10001"},
	} {
		current := tree.Tree{"a": tree.Tree{}, "l": []any{"x"}}
		patched, err := merge.Operations(current, c.operations)
		got, _ := json.Marshal(patched)
		if err != nil {
			got = []byte(err.Error())
		}
		if !strings.Contains(string(got), c.want) || errors.Is(err, merge.ErrTest) != strings.HasPrefix(c.want, "testing") {
			t.Errorf("%+.1v: got %s, want %s", c.operations, got, c.want)
		}
		if left, _ := json.Marshal(current); string(left) != `{"a":{},"l":["x"]}` {
			t.Errorf("%+.1v has changed the object: %s", c.operations, left)
		}
	}
}
