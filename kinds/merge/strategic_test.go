package merge

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func plan() *schema.Message {
	port := schema.NewMessage("Port", &schema.Field{Name: "port", Type: schema.TypeInt32}, &schema.Field{Name: "x"})
	ref := schema.NewMessage("Ref", &schema.Field{Name: "name"}, &schema.Field{Name: "v"}, &schema.Field{Name: "labels", Shape: schema.Map})
	keyed := func(name, key string, m *schema.Message) *schema.Field {
		return &schema.Field{Name: name, Type: schema.TypeMessage, Shape: schema.List, Message: m, MergeKey: key, MergeStrategies: []string{"merge"}}
	}
	return schema.NewMessage("Test",
		keyed("secrets", "name", ref), keyed("ports", "port", port),
		&schema.Field{Name: "set", Shape: schema.List, MergeStrategies: []string{"merge"}},
		&schema.Field{Name: "args", Shape: schema.List},
		&schema.Field{Name: "atomic", Type: schema.TypeMessage, Message: ref, MergeStrategies: []string{"replace"}},
		&schema.Field{Name: "one", Type: schema.TypeMessage, Message: ref, MergeStrategies: []string{"retainKeys"}},
		&schema.Field{Name: "data", Shape: schema.Map},
	)
}

func TestStrategic(t *testing.T) {
	for _, c := range []struct{ name, current, patch, want string }{
		{"map", `{"data":{"a":"1","b":"2"}}`, `{"data":{"a":null,"c":"3"}}`, `{"data":{"b":"2","c":"3"}}`},
		{"new item first", `{"secrets":[{"name":"a"}]}`, `{"secrets":[{"name":"b"}]}`, `{"secrets":[{"name":"b"},{"name":"a"}]}`},
		{"merge item", `{"secrets":[{"name":"a","v":"1"},{"name":"b"}]}`, `{"secrets":[{"name":"b","v":"2"}]}`, `{"secrets":[{"name":"a","v":"1"},{"name":"b","v":"2"}]}`},
		{"an item whose key is null", `{"secrets":[{"name":"a"}]}`, `{"secrets":[{"name":null,"v":"1"},{"name":null,"$patch":"delete"}]}`, `{"secrets":[{"name":"a"},{"v":"1"}]}`},
		{"delete item", `{"secrets":[{"name":"b"},{"name":"a"}]}`, `{"secrets":[{"name":"a","$patch":"delete"}]}`, `{"secrets":[{"name":"b"}]}`},
		{"replace list", `{"secrets":[{"name":"a"}]}`, `{"secrets":[{"$patch":"replace"},{"name":"c"}]}`, `{"secrets":[{"name":"c"}]}`},
		{"order", `{"secrets":[{"name":"a"},{"name":"b"}]}`, `{"$setElementOrder/secrets":[{"name":"b"},{"name":"a"},{"name":"c"}],"secrets":[{"name":"c"}]}`, `{"secrets":[{"name":"b"},{"name":"a"},{"name":"c"}]}`},
		{"order of a new item where another goes", `{"secrets":[{"name":"a"},{"name":"b"}]}`, `{"$setElementOrder/secrets":[{"name":"c"}],"secrets":[{"name":"c"},{"name":"b","$patch":"delete"}]}`, `{"secrets":[{"name":"a"},{"name":"c"}]}`},
		{"order of two new items where one goes", `{"secrets":[{"name":"a"},{"name":"b"}]}`, `{"$setElementOrder/secrets":[{"name":"d"},{"name":"c"}],"secrets":[{"name":"d"},{"name":"c"},{"name":"b","$patch":"delete"}]}`, `{"secrets":[{"name":"a"},{"name":"d"},{"name":"c"}]}`},
		{"order of a new item without a deletion", `{"secrets":[{"name":"a"},{"name":"b"}]}`, `{"$setElementOrder/secrets":[{"name":"c"}],"secrets":[{"name":"c"}]}`, `{"secrets":[{"name":"c"},{"name":"a"},{"name":"b"}]}`},
		{"order that names an item twice", `{"secrets":[{"name":"b"}]}`, `{"$setElementOrder/secrets":[{"name":"a"},{"name":"b"},{"name":"a"}],"secrets":[{"name":"b","v":"1"},{"name":"a"}]}`, `{"secrets":[{"name":"a"},{"name":"b","v":"1"}]}`},
		{"keys that begin with a dollar", `{"data":{"$a":"1"}}`, `{"data":{"$a":null,"$ref":"2"}}`, `{"data":{"$ref":"2"}}`},
		{"number key", `{"ports":[{"port":80}]}`, `{"ports":[{"port":80,"x":"y"}]}`, `{"ports":[{"port":80,"x":"y"}]}`},
		{"set", `{"set":["a","b"]}`, `{"set":["c","a"]}`, `{"set":["c","a","b"]}`},
		{"delete from set", `{"set":["a","b"]}`, `{"$deleteFromPrimitiveList/set":["a"]}`, `{"set":["b"]}`},
		{"plain list", `{"args":["a"]}`, `{"args":["b"]}`, `{"args":["b"]}`},
		{"replace strategy", `{"atomic":{"name":"a","v":"1"}}`, `{"atomic":{"v":"2"}}`, `{"atomic":{"v":"2"}}`},
		{"replace directive", `{"one":{"name":"a","v":"1"}}`, `{"one":{"$patch":"replace","v":"2"}}`, `{"one":{"v":"2"}}`},
		{"replace nothing", `{}`, `{"one":{"$patch":"replace","v":"2"},"data":{"a":"1"}}`, `{"data":{"a":"1"}}`},
		{"new list of items without keys", `{}`, `{"secrets":[{"v":"1"},null]}`, `{"secrets":[{"v":"1"},null]}`},
		{"delete in a new list", `{}`, `{"secrets":[{"name":"a","$patch":"delete"},{"name":"b"}]}`, `{"secrets":[{"name":"b"}]}`},
		{"retain keys", `{"one":{"name":"a","v":"1"}}`, `{"one":{"$retainKeys":["name"],"name":"b"}}`, `{"one":{"name":"b"}}`},
		{"new object", `{}`, `{"one":{"$retainKeys":["name"],"name":"b","v":null}}`, `{"one":{"name":"b"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			current := parse(t, c.current).(tree.Tree)
			before := text(t, current)
			got, err := Strategic(plan(), current, parse(t, c.patch).(tree.Tree))
			if err != nil {
				t.Fatal(err)
			}
			if text(t, current) != before {
				t.Fatal("current has changed")
			}
			if text(t, got) != c.want {
				t.Errorf("got %s, want %s", text(t, got), c.want)
			}
		})
	}
}

func TestStrategicRefuses(t *testing.T) {
	for _, patch := range []string{
		`{"$frob":1}`, `{"$patch":"frob"}`, `{"one":{"$patch":7}}`, `{"secrets":[{"v":"1"}]}`, `{"secrets":["a"]}`,
		`{"set":[["a"]]}`, `{"$deleteFromPrimitiveList/set":{}}`, `{"$setElementOrder/secrets":[{}]}`,
		`{"$setElementOrder/secrets":[{"name":"x"}],"secrets":[{"name":"y"}]}`,
		`{"$setElementOrder/secrets":[{"name":"x"},{"name":"y"}],"secrets":[{"name":"x"},{"name":"x","v":"1"},{"name":"y"}]}`,
		`{"one":{"$retainKeys":["v"],"name":"b"}}`, `{"one":{"$retainKeys":1}}`,
	} {
		current := tree.Tree{"one": tree.Tree{"name": "a"}, "secrets": []any{tree.Tree{"name": "s"}}}
		_, err := Strategic(plan(), current, parse(t, patch).(tree.Tree))
		checkCode(t, err, 400)
	}
}
