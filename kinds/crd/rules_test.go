package crd

import (
	"context"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func parseTree(t *testing.T, text string) tree.Tree {
	t.Helper()
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(tree.Tree)
}

func compiled(t *testing.T, text string) *node {
	t.Helper()
	k := NewExtensions(meta.Platform)
	return k.compile(parseTree(t, text))
}

func validate(n *node, obj, old tree.Tree) string {
	var faults schema.Faults
	rules.ValidateValue(n.rootValues(), obj, old, &faults)
	if len(faults.List) == 0 {
		(&ruleSet{naming: meta.Platform, root: n}).evaluate(context.Background(), obj, old, &faults)
	}
	var lines []string
	for _, c := range faults.List {
		lines = append(lines, c.Field+": "+c.Message)
	}
	return strings.Join(lines, "\n")
}

func TestExpressions(t *testing.T) {
	const object = `{"spec":{"s":"ab12","n":3,"f":2,"l":[1,2,3],"names":["b","a"],"u":"https://h:1/p","in":1,"a-b":"x","m":{"k":"v"},"d":"1h","b":"YQ==","any":{"x":1}}}`
	for rule, want := range map[string]string{
		`self.s.find('[0-9]+') == '12'`:                                                         "",
		`self.s.findAll('[a-z]').size() == 2 && self.s.findAll('.', 1).size() == 1`:             "",
		`self.l.isSorted() && !self.names.isSorted()`:                                           "",
		`self.l.sum() == 6 && self.l.min() == 1 && self.l.max() == 3`:                           "",
		`self.l.indexOf(2) == 1 && self.l.lastIndexOf(9) == -1`:                                 "",
		`isURL(self.u) && url(self.u).getPort() == '1' && url(self.u).getEscapedPath() == '/p'`: "",
		`!isURL(self.s)`: "",
		`self.__in__ == 1 && self.a__dash__b == 'x'`:                       "",
		`self.m['k'] == 'v' && 'k' in self.m && !('x' in self.m)`:          "",
		`self.d == duration('60m') && self.b == b'a'`:                      "",
		`self.f == 2.0 && self.n * 2 == 6`:                                 "",
		`has(self.s) && !has(self.none) && self.?none.orValue('z') == 'z'`: "",
		`sets.contains(self.l, [1, 2]) && self.names.exists(x, x == 'a')`:  "",
		`'%s'.format([self.s]) == 'ab12' && self.s.upperAscii() == 'AB12'`: "",
		`self.n > 3`:       `spec: Invalid value: failed rule: self.n > 3`,
		`self.none == 'x'`: `spec: Invalid value: "object": no such key: none evaluating rule: self.none == 'x'`,
		`self.l[7] == 1`:   `spec: Invalid value: "object": index out of bounds: 7 evaluating rule: self.l[7] == 1`,
		`[].min() == 1`:    `spec: Invalid value: "object": min called on empty list evaluating rule: [].min() == 1`,
	} {
		n := compiled(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{"s":{"type":"string"},"none":{"type":"string"},"n":{"type":"integer"},
			"f":{"type":"number"},"l":{"type":"array","items":{"type":"integer"}},"names":{"type":"array","items":{"type":"string"}},"u":{"type":"string"},
			"in":{"type":"integer"},"a-b":{"type":"string"},"m":{"type":"object","additionalProperties":{"type":"string"}},"d":{"type":"string","format":"duration"},
			"b":{"type":"string","format":"byte"},"any":{"type":"object","x-platform-preserve-unknown-fields":true}}}}}`)
		spec := n.properties["spec"]
		spec.rules, spec.hasRules, n.hasRules = []tree.Tree{{"rule": rule}}, true, true
		n.prepareRules()
		compiler := ruleCompiler{naming: meta.Platform, self: spec.selfType}
		if _, fault := compiler.compile(spec, spec.rules[0]); fault != nil {
			t.Errorf("%s: %v", rule, fault.err)
			continue
		}
		if got := validate(n, parseTree(t, object), nil); got != want {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
	}
}

func TestEvaluationEndsWithContext(t *testing.T) {
	n := compiled(t, `{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}}},"x-platform-validations":[{"rule":"self.l.all(x, self.l.all(y, x + y < 0))"}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	list := make([]any, 200)
	for i := range list {
		list[i] = int64(i)
	}
	var faults schema.Faults
	if (&ruleSet{naming: meta.Platform, root: n}).evaluate(ctx, tree.Tree{"l": list}, nil, &faults); len(faults.List) > 0 {
		t.Errorf("rules were evaluated: %v", faults.List)
	}
}

func TestCost(t *testing.T) {
	n := compiled(t, `{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"},
		"x-platform-validations":[{"rule":"self.all(a, self.all(b, self.all(c, a + b + c >= 0)))"}]}}}`)
	list := make([]any, 1000)
	for i := range list {
		list[i] = int64(i)
	}
	// On a slow machine, the evaluation may time out before the cost limit is exceeded.
	got := validate(n, tree.Tree{"l": list}, nil)
	if !strings.Contains(got, "call cost exceeds limit") && !strings.Contains(got, "running out of cost budget") {
		t.Errorf("%s", got)
	}
	if got := validate(n, tree.Tree{"l": list[:5]}, nil); got != "" {
		t.Errorf("%s", got)
	}
}
