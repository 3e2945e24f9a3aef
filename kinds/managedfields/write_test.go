package managedfields

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestUpdate(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"create":           {``, `{"text":"a","map":{"x":"1"}}`, `w Update {"f:map":{".":{},"f:x":{}},"f:text":{}}`},
		"metadata":         {``, `{"kind":"K","apiVersion":"v1","metadata":{"name":"n","uid":"u","labels":{"a":"b"}}}`, `w Update {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`},
		"nothing":          {`{"text":"a"}`, `{"text":"a"}`, `old Update {"f:text":{}}`},
		"change":           {`{"text":"a"}`, `{"text":"b"}`, `w Update {"f:text":{}}`},
		"other field":      {`{"text":"a"}`, `{"text":"a","inner":{"a":"1"}}`, `old Update {"f:text":{}}; w Update {"f:inner":{".":{},"f:a":{}}}`},
		"gone":             {`{"text":"a","map":{"x":"1"}}`, `{"text":"a"}`, `old Update {"f:text":{}}`},
		"all gone":         {`{"text":"a"}`, `{}`, ``},
		"key of map":       {`{"map":{"x":"1","y":"1"}}`, `{"map":{"x":"1","y":"2"}}`, `old Update {"f:map":{".":{},"f:x":{}}}; w Update {"f:map":{"f:y":{}}}`},
		"atomic map":       {`{"unit":{"x":"1","y":"1"}}`, `{"unit":{"x":"1","y":"2"}}`, `w Update {"f:unit":{}}`},
		"atomic message":   {`{"block":{"a":"1"}}`, `{"block":{"a":"1","b":1}}`, `w Update {"f:block":{}}`},
		"atomic list":      {`{"list":["a"]}`, `{"list":["a","b"]}`, `w Update {"f:list":{}}`},
		"set":              {`{"set":["a"]}`, `{"set":["b","a"]}`, `old Update {"f:set":{".":{},"v:\"a\"":{}}}; w Update {"f:set":{"v:\"b\"":{}}}`},
		"item":             {`{"items":[{"name":"a","value":"1"}]}`, `{"items":[{"name":"a","value":"2"}]}`, `old Update {"f:items":{".":{},"k:{\"kind\":\"K\",\"name\":\"a\"}":{".":{},"f:name":{}}}}; w Update {"f:items":{"k:{\"kind\":\"K\",\"name\":\"a\"}":{"f:value":{}}}}`},
		"order of items":   {`{"items":[{"name":"a"},{"name":"b"}]}`, `{"items":[{"name":"b"},{"name":"a"}]}`, `old Update {"f:items":{".":{},"k:{\"kind\":\"K\",\"name\":\"a\"}":{".":{},"f:name":{}},"k:{\"kind\":\"K\",\"name\":\"b\"}":{".":{},"f:name":{}}}}`},
		"items twice":      {`{"items":[{"name":"a"}]}`, `{"items":[{"name":"a"},{"name":"a","value":"2"}]}`, `old Update {"f:items":{}}; w Update {"f:items":{"k:{\"kind\":\"K\",\"name\":\"a\"}":{}}}`},
		"items once":       {`{"items":[{"name":"a"},{"name":"a"}]}`, `{"items":[{"name":"a","value":"2"}]}`, `old Update {"f:items":{}}; w Update {"f:items":{"k:{\"kind\":\"K\",\"name\":\"a\"}":{".":{},"f:name":{},"f:value":{}}}}`},
		"message in a map": {`{"groups":{"x":{"a":"1"}}}`, `{"groups":{"x":{"a":"1","b":2}}}`, `old Update {"f:groups":{".":{},"f:x":{".":{},"f:a":{}}}}; w Update {"f:groups":{"f:x":{"f:b":{}}}}`},
	} {
		var before tree.Tree
		var managed []any
		if c.before != "" {
			before = parseTree(t, c.before)
			managed = Update(writerOf("old"), onlyV1, nil, before, nil, false)
		}
		if got := formatManagers(Update(writerOf("w"), onlyV1, before, parseTree(t, c.after), managed, false)); got != c.want {
			t.Errorf("%s: the owners are\n%s, want\n%s", name, got, c.want)
		}
	}
}

func TestUpdateExcludedFields(t *testing.T) {
	after := parseTree(t, `{"text":"a","status":{"a":"1"}}`)
	w := writerOf("w")
	w.KeepsStatus = true
	if got := formatManagers(Update(w, onlyV1, nil, after, nil, false)); got != `w Update {"f:text":{}}` {
		t.Errorf("a write that keeps the status: %s", got)
	}
	w = writerOf("w")
	w.OnlyField, w.Subresource = "status", "status"
	list := Update(w, onlyV1, nil, after, nil, false)
	if got := formatManagers(list); got != `w Update {"f:status":{".":{},"f:a":{}}}` || list[0].(tree.Tree).String("subresource") != "status" {
		t.Errorf("a write of the status: %s", got)
	}
}

func TestUpdateOfUnmanaged(t *testing.T) {
	before, after := parseTree(t, `{"text":"a"}`), parseTree(t, `{"text":"b"}`)
	if got := Update(writerOf("w"), onlyV1, before, after, nil, false); got != nil {
		t.Errorf("an object without managers got %s", formatManagers(got))
	}
	if got := formatManagers(Update(writerOf("w"), onlyV1, before, after, nil, true)); got != `w Update {"f:text":{}}` {
		t.Errorf("one that begins anew got %s", got)
	}
}

func TestUnknownVersionLosesAll(t *testing.T) {
	managed := []any{tree.Tree{"manager": "m", "operation": "Update", "apiVersion": "v0", "fieldsType": "FieldsV1", "fieldsV1": `{"f:list":{}}`}}
	got := formatManagers(Update(writerOf("w"), onlyV1, parseTree(t, `{"text":"a"}`), parseTree(t, `{"text":"b"}`), managed, false))
	if got != `w Update {"f:text":{}}` {
		t.Errorf("the owners are %s", got)
	}
}

// run performs a sequence of applies, each "manager{...}" or, if forced, "!manager{...}". It
// returns the object and its managers, or the error message.
func run(t *testing.T, steps ...string) string {
	t.Helper()
	var live tree.Tree
	var managed []any
	for _, step := range steps {
		manager, config, _ := strings.Cut(step, "{")
		name, force := strings.CutPrefix(manager, "!")
		next, list, err := Apply(writerOf(name), onlyV1, live, parseTree(t, "{"+config), managed, force)
		if err != nil {
			return err.Error()
		}
		live, managed = next, list
	}
	return jsonOf(live) + " " + formatManagers(managed)
}

func jsonOf(t tree.Tree) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, key := range t.SortedKeys() {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s:%v", key, t[key])
	}
	return b.String() + "}"
}

func TestApply(t *testing.T) {
	for name, c := range map[string]struct {
		steps []string
		want  string
	}{
		"create":     {[]string{`a{"text":"1"}`}, `{text:1} a Apply {"f:text":{}}`},
		"share":      {[]string{`a{"text":"1"}`, `b{"text":"1"}`}, `{text:1} a Apply {"f:text":{}}; b Apply {"f:text":{}}`},
		"conflict":   {[]string{`a{"text":"1"}`, `b{"text":"2"}`}, `Apply failed with 1 conflict: conflict with "a": .text`},
		"force":      {[]string{`a{"text":"1"}`, `!b{"text":"2"}`}, `{text:2} b Apply {"f:text":{}}`},
		"give up":    {[]string{`a{"text":"1","set":["x"]}`, `b{"text":"1"}`, `a{"set":["x"]}`}, `{set:[x] text:1} a Apply {"f:set":{"v:\"x\"":{}}}; b Apply {"f:text":{}}`},
		"remove":     {[]string{`a{"text":"1","list":["x"]}`, `a{"text":"1"}`}, `{text:1} a Apply {"f:text":{}}`},
		"nothing":    {[]string{`a{"text":"1"}`, `a{}`}, `{} `},
		"items":      {[]string{`a{"items":[{"name":"x"}]}`, `b{"items":[{"name":"y"}]}`, `a{"items":[]}`}, `{items:[map[name:y]]} b Apply {"f:items":{"k:{\"kind\":\"K\",\"name\":\"y\"}":{".":{},"f:name":{}}}}`},
		"map of any": {[]string{`a{"groups":{"x":{"a":"1"}}}`, `b{"groups":{"x":{"b":1}}}`, `a{}`}, `{groups:map[x:map[b:1]]} b Apply {"f:groups":{"f:x":{".":{},"f:b":{}}}}`},
	} {
		if got := run(t, c.steps...); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

func TestNoOpApplyKeepsTime(t *testing.T) {
	config := parseTree(t, `{"text":"1"}`)
	live, managed, err := Apply(writerOf("a"), onlyV1, nil, config, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	later := writerOf("a")
	later.Now = "2031-01-01T00:00:00Z"
	again, list, err := Apply(later, onlyV1, live, config, managed, false)
	if err != nil || !tree.SameRef(again, live) || !tree.SameRef(list, managed) {
		t.Errorf("%v %v %v, want the same as before", again, list, err)
	}
}

func TestBeforeFirstApply(t *testing.T) {
	live, managed, err := Apply(writerOf("a"), onlyV1, parseTree(t, `{"text":"1"}`), parseTree(t, `{"list":["x"]}`), nil, false)
	if got := formatManagers(managed); err != nil || got != `a Apply {"f:list":{}}; before-first-apply Update {"f:text":{}}` || live["text"] != "1" {
		t.Errorf("%v %s %v", live, got, err)
	}
}

func TestConflictNamesSubresource(t *testing.T) {
	w := writerOf("s")
	w.OnlyField, w.Subresource = "status", "status"
	before := parseTree(t, `{"status":{"a":"1"}}`)
	managed := Update(w, onlyV1, nil, before, nil, false)
	a := writerOf("a")
	a.OnlyField, a.Subresource = "status", "status"
	_, _, err := Apply(a, onlyV1, before, parseTree(t, `{"status":{"a":"2"}}`), managed, false)
	status, _ := err.(*meta.Status)
	if status == nil || status.Code != 409 || status.Message != `Apply failed with 1 conflict: conflict with "s" with subresource "status" using v1: .status.a` {
		t.Errorf("%v", err)
	}
}

func TestTimes(t *testing.T) {
	at := func(manager, now string) Writer {
		w := writerOf(manager)
		w.Now = "2030-01-01T00:00:0" + now + "Z"
		return w
	}
	var live tree.Tree
	var managed []any
	apply := func(manager, now, config string) {
		t.Helper()
		var err error
		if live, managed, err = Apply(at(manager, now), onlyV1, live, parseTree(t, config), managed, false); err != nil {
			t.Fatal(err)
		}
	}
	update := func(manager, now, next string) {
		t.Helper()
		after := parseTree(t, next)
		managed = Update(at(manager, now), onlyV1, live, after, managed, false)
		live = after
	}
	times := func(step, want string) {
		t.Helper()
		var got []string
		for _, v := range managed {
			e := v.(tree.Tree)
			got = append(got, e.String("manager")+" "+e.String("time")[len("2030-01-01T00:00:0"):len("2030-01-01T00:00:00")])
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %s", step, got, want)
		}
	}
	apply("one", "1", `{"text":"a","map":{"x":"1"}}`)
	times("one applies", "one 1")
	apply("one", "2", `{"map":{"x":"1"},"text":"a"}`)
	times("one applies the same", "one 1")
	apply("two", "3", `{"map":{"y":"1"}}`)
	times("two adds a key", "one 1, two 3")
	apply("two", "4", `{"map":{"y":"1"}}`)
	update("three", "4", `{"text":"a","map":{"x":"1","y":"1"}}`)
	times("nothing changes", "one 1, two 3")
	update("three", "5", `{"text":"b","map":{"x":"1","y":"1"}}`)
	times("three takes the text", "one 1, three 5, two 3")
	update("three", "6", `{"text":"b","map":{"x":"1","y":"1"},"list":["a"]}`)
	times("three adds a list", "one 1, three 6, two 3")
	apply("one", "7", `{"map":{"x":"2"}}`)
	times("one changes a key", "one 7, three 6, two 3")
}
