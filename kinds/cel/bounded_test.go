package cel

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/tree"
)

type sizedVariables struct{ Variables }

func (v sizedVariables) Size(name string) (Size, bool) {
	value, ok := v.Variables[name]
	return SizeOf(value), ok
}

// boundedExpressions covers every kind of expression whose cost can be bounded before evaluation.
var boundedExpressions = []string{
	`object.l.all(c, c.t.startsWith('a'))`,
	`object.l.all(c, object.l.exists_one(d, d.t == c.t))`,
	`object.l.exists(c, c.l.all(d, object.l.exists(e, e.t == d || d in e.l)))`,
	`object.l.all(c, c.t.matches('^[a-z]{0,99}$` + strings.Repeat("|ab", 100) + `')) && object.m.t.matches('a*')`,
	`!has(object.m.none) || object.m.none == 'x'`,
	`object.l == oldObject.l || object == oldObject`,
	`'b' in object.m && object.m.t in ['a', 'b', 'some longer text that nothing has']`,
	`size(object.l) < 3 ? object.l[0].t > 'b' : object.m[object.m.t] == null`,
	`quantity(object.m.t).isLessThan(quantity('2'))`,
	`object.m.exists(k, object.m[k] == object.m.t || k.endsWith('c'))`,
}

// countedExpressions are expressions whose costs must be counted, because they build larger values
// or their cost depends on values known only during evaluation.
var countedExpressions = []string{
	`object.m.t + object.m.t == 'aa'`,
	`object.l.map(c, c.t).size() > 0`,
	`object.m.t.matches(object.m.t)`,
	`[object, object] == [object]`,
	`object.m.t.replace('', 'aaaa') == ''`,
	`type(object) == map`,
	`b'aaaa' == b'a'`,
	`object.?m.t.orValue('') == ''`,
}

func anyText(t *rapid.T) string { return rapid.StringMatching(`[abc]{0,200}`).Draw(t, "text") }

func anyObject(t *rapid.T) tree.Tree {
	list := make([]any, rapid.IntRange(0, 25).Draw(t, "items"))
	for i := range list {
		inner := make([]any, rapid.IntRange(0, 2).Draw(t, "inner"))
		for j := range inner {
			inner[j] = anyText(t)
		}
		list[i] = tree.Tree{"t": anyText(t), "l": inner}
	}
	m := tree.Tree{"t": rapid.SampledFrom([]string{"a", "b", "1", "100m"}).Draw(t, "t")}
	for range rapid.IntRange(0, 9).Draw(t, "keys") {
		m[anyText(t)] = anyText(t)
	}
	return tree.Tree{"l": list, "m": m}
}

// TestBounds checks that evaluations stay within their bound and return the same results as with
// counting.
func TestBounds(t *testing.T) {
	env := newEnv(t, Variable("object", Dyn), Variable("oldObject", Dyn), Sized())
	var programs []*Program
	for _, text := range boundedExpressions {
		p := compile(t, env, text)
		if p.form == nil {
			t.Fatalf("%s is not bounded", text)
		}
		programs = append(programs, p)
	}
	rapid.Check(t, func(t *rapid.T) {
		object := anyObject(t)
		variables := Variables{"object": object, "oldObject": rapid.SampledFrom([]any{nil, object, anyObject(t)}).Draw(t, "old")}
		for _, p := range programs {
			counting, allowing := NewBudget(RuntimeBudget), NewBudget(1000*RuntimeBudget)
			want, wantErr := p.Eval(t.Context(), variables, counting)
			got, err := p.Eval(t.Context(), sizedVariables{variables}, allowing)
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() || err == nil && !Truth(got.Equal(want)) {
				t.Fatalf("%s: %v, %v; counted it is %v, %v", p.text, got, err, want, wantErr)
			}
			bound, known := p.form.bound(sizedVariables{variables})
			if known != (allowing.Remaining() == 1000*RuntimeBudget) {
				t.Fatalf("%s: bounded %t", p.text, known)
			}
			if cost := RuntimeBudget - counting.Remaining(); known && cost > bound {
				t.Fatalf("%s costs %d, more than %d", p.text, cost, bound)
			}
		}
	})
}

// TestBoundOfTexts checks that the bound covers the cost of reading strings, not only of calls.
func TestBoundOfTexts(t *testing.T) {
	env := newEnv(t, Variable("object", Dyn), Sized())
	list := make([]any, 20)
	for i := range list {
		list[i] = strings.Repeat("a", 400)
	}
	variables := sizedVariables{Variables{"object": tree.Tree{"l": list}}}
	p, b := compile(t, env, `object.l.all(c, c.matches('^[a-z]+$`+strings.Repeat("|ab", 100)+`'))`), NewBudget(RuntimeBudget)
	if _, err := p.Eval(t.Context(), variables.Variables, b); err != nil {
		t.Fatal(err)
	}
	if bound, known := p.form.bound(variables); !known || bound < RuntimeBudget-b.Remaining() {
		t.Errorf("costs %d, more than %d, %t", RuntimeBudget-b.Remaining(), bound, known)
	}
}

// TestUnboundedIsCounted checks that costs are counted for expressions without a bound, for large
// values, and after the allowance is spent.
func TestUnboundedIsCounted(t *testing.T) {
	env := newEnv(t, Variable("object", Dyn), Sized())
	for _, text := range countedExpressions {
		if p := compile(t, env, text); p.form != nil {
			t.Errorf("%s is bounded", text)
		}
	}
	p := compile(t, env, `object.l.all(c, object.l.all(d, c == d))`)
	counted := func(object tree.Tree, b *Budget) bool {
		before := b.Remaining()
		if _, err := p.Eval(t.Context(), sizedVariables{Variables{"object": object}}, b); err != nil {
			t.Fatal(err)
		}
		return b.Remaining() != before
	}
	small := tree.Tree{"l": []any{"a", "a"}}
	if counted(small, NewBudget(RuntimeBudget)) {
		t.Error("a small object is counted")
	}
	if !counted(tree.Tree{"l": make([]any, 200)}, NewBudget(RuntimeBudget)) || !counted(tree.Tree{"l": []any{}, "t": strings.Repeat("a", maxSized)}, NewBudget(RuntimeBudget)) {
		t.Error("a large object is not counted")
	}
	b, uncounted := NewBudget(RuntimeBudget), 0
	for !counted(small, b) {
		if uncounted++; uncounted > RuntimeBudget/100 {
			t.Fatal("the allowance is never used up")
		}
	}
}
