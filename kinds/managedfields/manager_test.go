package managedfields

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

func updater(name, version string, hour int, fields string) *manager {
	s, err := Parse(fields)
	if err != nil {
		panic(err)
	}
	return &manager{managerIdentity: managerIdentity{name: name, operation: opUpdate, apiVersion: version}, version: version,
		time: fmt.Sprintf("2030-01-01T%02d:00:00Z", hour), set: s}
}

func TestCap(t *testing.T) {
	var all managers
	for i := range 13 {
		all = append(all, updater(fmt.Sprintf("m%02d", i), "v1", i, fmt.Sprintf(`{"f:a%02d":{}}`, i)))
	}
	all[1].version, all[1].apiVersion, all[3].subresource = "v2", "v2", "status"
	all = append(all, &manager{managerIdentity: managerIdentity{name: "a", operation: opApply}, version: "v1", set: set(t, `{"f:z":{}}`)})
	var lines []string
	for _, v := range all.capUpdaters().encode() {
		e := v.(tree.Tree)
		lines = append(lines, e.String("manager")+" "+e.String("apiVersion")+" "+e.String("fieldsV1"))
	}
	want := []string{
		`a v1 {"f:z":{}}`, `m01 v2 {"f:a01":{}}`, `ancient-changes v1 {"f:a00":{},"f:a02":{},"f:a03":{},"f:a04":{}}`,
	}
	for i := 5; i < 13; i++ {
		want = append(want, fmt.Sprintf(`m%02d v1 {"f:a%02d":{}}`, i, i))
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the managers are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestEncodeOrder(t *testing.T) {
	all := managers{
		updater("b", "v1", 2, `{"f:a":{}}`), updater("c", "v1", 1, `{"f:a":{}}`), updater("a", "v1", 2, `{"f:a":{}}`), updater("gone", "v1", 0, `{}`),
		{managerIdentity: managerIdentity{name: "z", operation: opApply}, version: "v1", time: "2030-01-01T09:00:00Z", set: set(t, `{"f:a":{}}`)},
	}
	var names []string
	for _, v := range all.encode() {
		names = append(names, v.(tree.Tree).String("manager"))
	}
	if got := strings.Join(names, " "); got != "z c a b" {
		t.Errorf("the order is %s", got)
	}
}

func TestIsReset(t *testing.T) {
	for text, want := range map[string]bool{`{"l":[{}]}`: true, `{"l":[]}`: false, `{"l":[{},{}]}`: false, `{"l":[{"manager":"m"}]}`: false} {
		list, _ := parseTree(t, text)["l"].([]any)
		if got := IsReset(list); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestNormalize(t *testing.T) {
	entry := func(operation, fields string) []any {
		return []any{tree.Tree{"manager": "m", "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}}
	}
	got, ok := Normalize(entry("Apply", `{ "f:b":{}, "f:a":{} }`))
	if !ok || formatManagers(got) != `m Apply {"f:a":{},"f:b":{}}` || got[0].(tree.Tree).String("fieldsType") != "FieldsV1" {
		t.Errorf("%v", got)
	}
	twice := append(entry("Apply", `{"f:a":{}}`), append(entry("Apply", `{"f:b":{}}`), entry("Update", `{}`)...)...)
	if got, ok := Normalize(twice); !ok || formatManagers(got) != `m Apply {"f:b":{}}` {
		t.Errorf("%v", got)
	}
	for _, bad := range [][]any{entry("Dance", `{"f:a":{}}`), entry("Apply", `{`), nil, {3}} {
		if got, ok := Normalize(bad); ok {
			t.Errorf("%v has become %v", bad, got)
		}
	}
}

func TestReconciled(t *testing.T) {
	for name, c := range map[string]struct{ set, want string }{
		"as it is":        {`{"f:items":{".":{},"k:{\"kind\":\"K\",\"name\":\"a\"}":{".":{},"f:value":{}}},"f:map":{"f:x":{}},"f:unit":{}}`, ``},
		"map":             {`{"f:text":{},"f:unit":{"f:x":{}}}`, `{"f:text":{},"f:unit":{}}`},
		"message":         {`{"f:block":{".":{},"f:a":{}}}`, `{"f:block":{}}`},
		"list":            {`{"f:list":{"k:{\"name\":\"a\"}":{".":{},"f:x":{}}}}`, `{"f:list":{}}`},
		"inside an item":  {`{"f:items":{"k:{\"kind\":\"K\",\"name\":\"a\"}":{"f:args":{"v:1":{}}}}}`, `{"f:items":{"k:{\"kind\":\"K\",\"name\":\"a\"}":{"f:args":{}}}}`},
		"below a scalar":  {`{"f:text":{"f:x":{}}}`, ``},
		"unknown":         {`{"f:nothing":{"f:x":{}}}`, ``},
		"atomic to parts": {`{"f:inner":{},"f:items":{},"f:map":{}}`, ``},
	} {
		if c.want == "" {
			c.want = c.set
		}
		s := set(t, c.set)
		got := Reconciled(plan(), s)
		if got.text() != c.want || sameRef(got, s) != (c.want == c.set) {
			t.Errorf("%s: %s, want %s", name, got.text(), c.want)
		}
	}
}
