package cel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func newEnv(t testing.TB, options ...Option) *Env {
	t.Helper()
	env, err := NewEnv(meta.Kubernetes, options...)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func compile(t testing.TB, env *Env, text string, wanted ...*Type) *Program {
	t.Helper()
	p, err := env.Compile(text, wanted...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// TestFunctions covers one function of each library. test/extension compares all functions with the
// reference implementation.
func TestFunctions(t *testing.T) {
	env := newEnv(t, Variable("object", Dyn), PatchTypes())
	input := Variables{"object": tree.Tree{"spec": tree.Tree{"n": int64(3), "l": []any{int64(1), int64(2)}}}}
	for text, want := range map[string]any{
		`object.spec.n + 1`:                                      int64(4),
		`object.spec.l.map(x, x * 2)`:                            []any{int64(2), int64(4)},
		`quantity("1Ki").add(quantity("1")).asInteger()`:         int64(1025),
		`ip("1.2.3.4").family()`:                                 int64(4),
		`cidr("10.0.0.0/8").containsIP("10.1.1.1")`:              true,
		`semver("1.2.3-a.1+b").isLessThan(semver("v1.3", true))`: true,
		`format.dns1123Label().validate("A").hasValue()`:         true,
		`Object{spec: Object.spec{n: 1}}`:                        tree.Tree{"spec": tree.Tree{"n": int64(1)}},
		`lists.range(3)`:                                         []any{int64(0), int64(1), int64(2)},
		`"a.*b".matches("a[.]")`:                                 true,
		`[3, 1].sort()`:                                          []any{int64(1), int64(3)},
		`url("https://a/?q=1").getQuery()["q"][0]`:               "1",
		`object.?spec.?none.orValue("x")`:                        "x",
		`duration("90s")`:                                        "90s",
		`b"a"`:                                                   "YQ==",
	} {
		v, err := compile(t, env, text).Eval(t.Context(), input, NewBudget(RuntimeBudget))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := Native(v); err != nil || !tree.StrictEqual(got, want) {
			t.Errorf("%s: %v %v, want %v", text, got, err, want)
		}
	}
}

func nested(depth int) *rapid.Generator[*Schema] {
	names := rapid.SampledFrom([]string{"self", "spec", "a", "in", "namespace", "a-b", "a.b", "size", "type", "int", "list"})
	if depth == 0 {
		return rapid.Just(&Schema{Type: "integer"})
	}
	return rapid.Custom(func(t *rapid.T) *Schema {
		s := &Schema{Type: "object", Properties: map[string]*Schema{}}
		for _, name := range rapid.SliceOfNDistinct(names, 1, 3, rapid.ID).Draw(t, "names") {
			below := nested(rapid.IntRange(0, depth-1).Draw(t, "depth")).Draw(t, "below")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				below = &Schema{Type: "array", Items: below}
			case 1:
				below = &Schema{Type: "object", Additional: below}
			}
			s.Properties[name] = below
		}
		return s
	})
}

func selections(s *Schema, at string) []string {
	all := []string{at + " == " + at}
	if s.Items != nil {
		all = append(all, selections(s.Items, at+"[0]")...)
	}
	if s.Additional != nil {
		all = append(all, selections(s.Additional, at+`["k"]`)...)
	}
	for name, p := range s.Properties {
		escaped, _ := Escape(name)
		all = append(all, "has("+at+"."+escaped+")")
		all = append(all, selections(p, at+"."+escaped)...)
	}
	return all
}

// TestSelections checks that no field selection is mistaken for a type name.
func TestSelections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := nested(4).Draw(t, "schema")
		env, err := NewEnv(meta.Platform, Variable("self", NewType(s, "@self", true)))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range selections(s, "self") {
			if _, err := env.Compile(text, Bool); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	})
}

func TestCompileErrors(t *testing.T) {
	env := newEnv(t, Variable("object", Dyn), Variable("n", Int))
	for text, want := range map[string]string{
		`n`:              "must evaluate to bool but got int",
		`quantity('1')`:  "must evaluate to bool but got kubernetes.Quantity",
		`object`:         "must evaluate to bool but got dyn",
		`url('/') == 1`:  "compilation failed: ERROR: <input>:1:10: found no matching overload for '_==_' applied to '(kubernetes.URL, int)'\n | url('/') == 1\n | .........^",
		`'a'.matches(n)`: "compilation failed: ERROR: <input>:1:12: found no matching overload for 'matches' applied to 'string.(int)'\n | 'a'.matches(n)\n | ...........^",
	} {
		if _, err := env.Compile(text, Bool); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := env.Compile("n", Bool, String); err == nil || err.Error() != "must evaluate to one of [bool string] but got int" {
		t.Error(err)
	}
}

// TestGuards checks that calls far beyond the limits are rejected before they run.
func TestGuards(t *testing.T) {
	env := newEnv(t, Variable("s", String), Variable("n", Int))
	input := Variables{"s": strings.Repeat("a", 1<<18), "n": int64(1) << 40}
	for _, text := range []string{
		`s.replace('a', s).size() > 0`, `lists.range(n).size() > 0`, `'%.999999999f'.format([1.0]) != ''`, `s.matches(s)`, `s.find(s) != ''`, `s.split('').join(s) != ''`,
		`'x'` + strings.Repeat(`.replace('x','xx')`, 40) + ` != ''`, `s.split('').distinct().size() > 0`, `s.matches('` + strings.Repeat("(a?)*", 100) + `')`,
	} {
		if _, err := compile(t, env, text).Eval(t.Context(), input, NewBudget(RuntimeBudget)); !IsCostLimit(err) && err != ErrOutOfBudget {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

// TestCostlyExpressions checks that untyped expressions that would take minutes or gigabytes are
// rejected.
func TestCostlyExpressions(t *testing.T) {
	env := newEnv(t, Variable("self", Dyn))
	var l, m []any
	for i := range 3000 {
		l, m = append(l, fmt.Sprint("l", i)), append(m, fmt.Sprint("m", i))
	}
	input := Variables{"self": tree.Tree{"a": strings.Repeat("x", 700_000), "l": l, "m": m}}
	for _, text := range []string{
		`self.a.replace('', self.a).size() > 0`, `self.l.join(self.a).size() > 0`, `'%.2000000000f'.format([1.0]).size() > 0`,
		`'` + strings.Repeat("%s", 2000) + `'.format([` + strings.Repeat("self.a,", 1999) + `self.a]).size() > 0`,
		`self.l.all(x, '%x%x%x%x'.format([self.a, self.a, self.a, self.a]).size() > 0)`, `!self.a.matches(self.a)`,
		`!self.a.matches('` + strings.Repeat("(x?y?)*", 2000) + `z')`, `self.a.find(self.a) == ''`, `self.a.findAll('` + strings.Repeat("x?", 5000) + `').size() == 0`,
		`self.l.all(x, self.a.split('').size() > 0)`, `!sets.intersects(self.l, self.m) && !sets.contains(self.m, self.l)`, `self.l.all(x, self.l.all(y, self.m.all(z, x != z)))`,
		`self.l.map(x, self.a + self.a + self.a).size() > 0`, `self.l.all(x, [self.a, x] == [self.a, x])`, `self.a.replace('', self.a) == 'x' || true`,
		`self.l.all(x, [self.a] in [[self.a, x], [self.a + x]] || true)`,
	} {
		b := NewBudget(RuntimeBudget)
		_, err := compile(t, env, text).Eval(t.Context(), input, b)
		if spent := RuntimeBudget - b.Remaining(); !IsCostLimit(err) && err != ErrOutOfBudget && spent < PerCallLimit/2 {
			t.Errorf("%.80s: %v, for %d", text, err, spent)
		}
	}
}

// TestLoopsAreLinear checks that counting the cost of a loop takes linear time, and that the
// wrappers of loop steps do not change the cost.
func TestLoopsAreLinear(t *testing.T) {
	env := newEnv(t, Variable("s", String), Variable("l", Dyn))
	input := Variables{"s": strings.Repeat("a", 150_000), "l": tree.Tree{"a": []any{"x", "y"}}}
	for text, cost := range map[string]uint64{
		`lists.range(7000).map(x, x).size() > 0`: 98_014, `lists.range(70000).map(x, x).size() > 0`: 980_014,
		`lists.range(6000).filter(x, x > 1).size() > 0`: 95_988, `lists.range(60000).filter(x, x > 1).size() > 0`: 959_988,
		`s.split('').all(x, true)`: 489_377, `s.split('').exists(x, x == 'b') || true`: 939_377,
		`l.a.all(i, x, i < 2 && x != '')`: 15,
	} {
		checked, err := env.Check(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		before, err := checked.EstimateCost()
		if err != nil {
			t.Fatal(err)
		}
		p, err := checked.Program()
		if err != nil {
			t.Fatal(err)
		}
		b := NewBudget(RuntimeBudget)
		if v, err := p.Eval(t.Context(), input, b); err != nil || !Truth(v) {
			t.Errorf("%s: %v, %v", text, v, err)
		}
		if spent := RuntimeBudget - b.Remaining(); spent != cost {
			t.Errorf("%s: %d, want %d", text, spent, cost)
		}
		if after, err := checked.EstimateCost(); err != nil || after != before {
			t.Errorf("%s: an estimate of %d, and %d before, %v", text, after, before, err)
		}
	}
}

func TestBudget(t *testing.T) {
	p := compile(t, newEnv(t, Variable("l", ListOf(Int))), `l.all(x, x >= 0)`)
	list := make([]any, 1000)
	for i := range list {
		list[i] = int64(i)
	}
	b := NewBudget(10_000)
	if _, err := p.Eval(t.Context(), Variables{"l": list}, b); err != nil || b.Remaining() == 10_000 {
		t.Errorf("%v, %d units are left", err, b.Remaining())
	}
	if _, err := p.Eval(t.Context(), Variables{"l": list}, b); err != ErrOutOfBudget || b.Remaining() != 0 {
		t.Errorf("%v, %d units are left", err, b.Remaining())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Eval(ended, Variables{"l": list}, NewBudget(RuntimeBudget)); err == nil {
		t.Error("an expression was evaluated for a canceled request")
	}
}

func TestLazy(t *testing.T) {
	variables := ObjectOf("platform.variables", map[string]*Type{"a": Int, "b": Int, "c": Int})
	p := compile(t, newEnv(t, Variable("variables", variables)), `variables.a + variables.a + (has(variables.b) ? 1 : 0)`)
	made := map[string]int{}
	lazy := NewLazy(variables, func(field string) Value {
		made[field]++
		return intValue(len(field))
	})
	v, err := p.Eval(t.Context(), Variables{"variables": lazy}, NewBudget(RuntimeBudget))
	if got, _ := Native(v); err != nil || got != int64(3) || made["a"] != 1 || made["c"] != 0 {
		t.Errorf("%v %v, made %v", got, err, made)
	}
	spent := NewLazy(variables, func(string) Value { return Fault(fmt.Errorf("variable: %w", ErrOutOfBudget)) })
	if _, err := p.Eval(t.Context(), Variables{"variables": spent}, NewBudget(RuntimeBudget)); err != ErrOutOfBudget {
		t.Error(err)
	}
	fault := errors.New("no such luck")
	if _, err := p.Eval(t.Context(), Variables{"variables": NewLazy(variables, func(string) Value { return Fault(fault) })}, NewBudget(RuntimeBudget)); !errors.Is(err, fault) {
		t.Error(err)
	}
}

func intValue(n int) Value { return (&Schema{Type: "integer"}).Value(int64(n)) }

func TestConcurrent(t *testing.T) {
	p := compile(t, newEnv(t, Variable("n", Int)), `[n, 2].exists(x, x == 2) && string(n).find('[0-9]') != '' && string(n).matches('^[0-9]+$')`)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				if v, err := p.Eval(t.Context(), Variables{"n": int64(i)}, NewBudget(RuntimeBudget)); err != nil || !Truth(v) {
					t.Errorf("%v %v", v, err)
				}
			}
		})
	}
	all.Wait()
}

func TestPatches(t *testing.T) {
	env := newEnv(t, PatchTypes())
	v, err := compile(t, env, `[JSONPatch{op: "add", path: "/a/" + jsonpatch.escapeKey("x/y"), value: {"b": [1]}}]`, JSONPatches).Eval(t.Context(), Variables{}, NewBudget(RuntimeBudget))
	if err != nil {
		t.Fatal(err)
	}
	operations, err := Operations(v)
	if err != nil || len(operations) != 1 || operations[0].Op != "add" || operations[0].Path != "/a/x~1y" {
		t.Fatalf("%v %v", operations, err)
	}
	if value, has, err := operations[0].Operand(); err != nil || !has || !tree.StrictEqual(value, tree.Tree{"b": []any{int64(1)}}) {
		t.Errorf("%v %v", value, err)
	}
	wrong, err := compile(t, env, `Object{spec: Object.status{}}`, ObjectPatch).Eval(t.Context(), Variables{}, NewBudget(RuntimeBudget))
	if err != nil {
		t.Fatal(err)
	}
	const want = `type mismatch: unexpected type name "Object.status", expected "Object.spec", which matches field name path from root Object type`
	if _, err := PatchTree(wrong); err == nil || err.Error() != want {
		t.Error(err)
	}
}
