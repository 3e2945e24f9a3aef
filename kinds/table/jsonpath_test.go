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
