package table

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestJSONPath(t *testing.T) {
	const object = `{"spec":{"n":3,"f":2.5,"s":"text","l":["a","b",{"c":"d"}],"a.b":"dotted","t":true,"x":null,"a\u003cb":"less","q\"":"quote"},
		"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Other","status":"False","n":2}]}}`
	for _, test := range []struct{ kind, path, want string }{
		{"string", ".spec.s", `"text"`},
		{"string", ".spec.n", `"3"`},
		{"integer", ".spec.n", `3`},
		{"integer", ".spec.f", `2`},
		{"number", ".spec.f", `2.5`},
		{"boolean", ".spec.t", `true`},
		{"boolean", ".spec.s", `null`},
		{"string", ".spec.x", `"\u003cno value\u003e"`},
		{"integer", ".spec.x", `null`},
		{"string", ".spec.l[-1:]", `"{\"c\":\"d\"}"`},
		{"string", ".spec.l[1:]", `"b"`},
		{"string", ".spec.l[1:2]", `"b"`},
		{"string", ".spec.l[2:1]", `null`},
		{"string", ".spec.l[::2]", `"a"`},
		{"string", ".spec.l[-9:]", `"a"`},
		{"string", ".spec.l[0:1:0]", `null`},
		{"string", ".spec.s[0:1]", `null`},
		{"string", ".spec.l[7,1]", `"b"`},
		{"string", ".spec['none','s']", `"text"`},
		{"string", ".spec['q\"',z]", `null`},
		{"string", "..c", `"d"`},
		{"string", "..conditions[?(@.n>1)].type", `"Other"`},
		{"string", ".spec..", `null`},
		{"string", ".spec...c", `null`},
		{"string", ".status.conditions[?(@.n>=2)].type", `"Other"`},
		{"string", ".status.conditions[?(@.n<2)].type", `null`},
		{"string", ".status.conditions[?(@.n<10)].type", `"Other"`},
		{"string", `.status.conditions[?(@.type<"P")].type`, `"Other"`},
		{"string", `.status.conditions[?(@.n<=1)].type`, `null`},
		{"string", ".spec.none.at.all", `null`},
		{"string", `.spec.a\.b`, `"dotted"`},
		{"string", `.spec['a.b']`, `"dotted"`},
		{"string", `.spec['a\.b']`, `"dotted"`},
		{"string", `.spec.a<b`, `"less"`},
		{"string", `.spec['q"']`, `"quote"`},
		{"string", ".spec.l[1]", `"b"`},
		{"string", ".spec.l[-1].c", `"d"`},
		{"string", ".spec.l[7]", `null`},
		{"string", ".spec.l[]", `"a"`},
		{"string", ".status.conditions[].type", `"Ready"`},
		{"string", ".spec.s[]", `null`},
		{"string", ".spec.l[*]", `"a"`},
		{"string", ".spec.l", `"[\"a\",\"b\",{\"c\":\"d\"}]"`},
		{"string", `.status.conditions[?(@.type=="Ready")].status`, `"True"`},
		{"string", `.status.conditions[?(@.type == 'Other')].status`, `"False"`},
		{"string", `.status.conditions[?(@.type!="Ready")].status`, `"False"`},
		{"integer", `.status.conditions[?(@.n)].n`, `2`},
		{"integer", `.status.conditions[?(@.n==2)].n`, `2`},
		{"string", `.status.conditions[?(@.type=="x]")].status`, `null`},
		{"string", "spec", `null`},
		{"string", ".", `null`},
		{"string", ".spec[", `null`},
		{"string", ".spec[?]", `null`},
		{"date", ".spec.s", `"\u003cinvalid\u003e"`},
		{"date", ".spec.n", `null`},
	} {
		if got := string(showJSON(test.kind, test.path)(nil, rowOf(&meta.Object{JSON: []byte(object)}), "")); got != test.want {
			t.Errorf("%s as %s: %s, want %s", test.path, test.kind, got, test.want)
		}
	}
}
