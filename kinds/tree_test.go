package kinds_test

import (
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

func TestAccessors(t *testing.T) {
	v := parseTree(t, `{"a":{"b":{"s":"x"}},"l":[{"s":"1"},2,{"s":"3"}],"t":["p","q"],"flag":true}`)
	v["n"] = int64(7)
	if got := v.Object("a", "b").String("s"); got != "x" {
		t.Errorf("a.b.s: %q", got)
	}
	if got := v.Object("a", "none", "b").String("s"); got != "" {
		t.Errorf("below an absent object: %q", got)
	}
	if n, ok := v.Int("n"); n != 7 || !ok {
		t.Errorf("n: %d, %t", n, ok)
	}
	if _, ok := v.Int("flag"); ok || !v.Bool("flag") {
		t.Error("flag is a number, or not set")
	}
	if l := v.Objects("l"); len(l) != 3 || l[1] != nil || l[2].String("s") != "3" {
		t.Errorf("l: %v", l)
	}
	if s := v.Strings("t"); !reflect.DeepEqual(s, []string{"p", "q"}) {
		t.Errorf("t: %v", s)
	}
	v.EnsureObject("a", "new", "deep")["x"] = "y"
	if got := v.Object("a", "new", "deep").String("x"); got != "y" {
		t.Errorf("a.new.deep.x: %q", got)
	}
	v.CopyField(tree.Tree{"t": "other"}, "t")
	v.CopyField(tree.Tree{}, "flag")
	if v.String("t") != "other" || v.Has("flag") {
		t.Errorf("copied: %v", v)
	}
}

func TestEquality(t *testing.T) {
	for _, c := range []struct {
		a, b                 string
		strict, meansTheSame bool
	}{
		{`{}`, `{}`, true, true},
		{`{"a":""}`, `{}`, false, true},
		{`{"a":{"b":{}}}`, `{}`, false, true},
		{`{"a":{}}`, `{}`, false, true},
		{`{"a":[{"b":0}]}`, `{"a":[{}]}`, false, true},
		{`{"a":[{}]}`, `{}`, false, false},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false, false},
		{`{"a":"x"}`, `{"a":{}}`, false, false},
		{`{"a":{"b":"x"}}`, `{"a":{"b":"x"}}`, true, true},
	} {
		a, b := parseTree(t, c.a), parseTree(t, c.b)
		for range 2 {
			if got := tree.StrictEqual(a, b); got != c.strict {
				t.Errorf("StrictEqual(%s, %s): %t", c.a, c.b, got)
			}
			if got := tree.SemanticEqual(a, b); got != c.meansTheSame {
				t.Errorf("SemanticEqual(%s, %s): %t", c.a, c.b, got)
			}
			a, b = b, a
		}
		if tree.SameRef(a, b) || !tree.SameRef(a, a) {
			t.Errorf("SameRef of %s", c.a)
		}
	}
}

func TestStoredEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{}`, `{"a":null}`, true},
		{`{"b":{"a":null,"c":1}}`, `{"b":{"c":1}}`, true},
		{`{}`, `{"a":false}`, false},
		{`{}`, `{"a":{}}`, false},
		{`{"a":[]}`, `{}`, false},
		{`{"a":[{}]}`, `{"a":[{"b":null}]}`, true},
		{`{"a":[{"b":0}]}`, `{"a":[{}]}`, false},
		{`{"a":1}`, `{"a":2}`, false},
	} {
		a, b := parseTree(t, c.a), parseTree(t, c.b)
		if tree.StoredEqual(a, b) != c.want || tree.StoredEqual(b, a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}

func TestJSONEqual(t *testing.T) {
	for _, c := range []struct {
		a, b any
		want bool
	}{
		{int64(1), 1.0, true},
		{int64(1), 1.5, false},
		{int64(1), "1", false},
		{tree.Tree{"a": []any{int64(2)}}, tree.Tree{"a": []any{2.0}}, true},
		{tree.Tree{"a": ""}, tree.Tree{}, false},
		{tree.Tree{"a": nil}, tree.Tree{}, false},
		{tree.Tree{"a": nil}, tree.Tree{"b": nil}, false},
		{tree.Tree(nil), tree.Tree{}, true},
		{[]any(nil), []any{}, true},
		{[]any{int64(1)}, []any{int64(1), int64(2)}, false},
		{tree.Tree{}, []any{}, false},
		{tree.Tree{}, nil, false},
		{nil, nil, true},
		{"x", "x", true},
	} {
		if tree.JSONEqual(c.a, c.b) != c.want || tree.JSONEqual(c.b, c.a) != c.want {
			t.Errorf("%v and %v: not %t", c.a, c.b, c.want)
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	v := parseTree(t, `{"a":{"l":[{"x":"1"}]}}`)
	c := tree.Clone(v).(tree.Tree)
	if !tree.StrictEqual(v, c) {
		t.Fatalf("cloned %v", c)
	}
	c.Object("a").Objects("l")[0]["x"] = "2"
	if got := v.Object("a").Objects("l")[0].String("x"); got != "1" {
		t.Errorf("the original changed to %q", got)
	}
}
