package cel

import (
	"fmt"
	"testing"

	"cel.dev/cel-go/common/types"

	"github.com/troupe-api/troupe/kinds/tree"
)

func TestDynamicList(t *testing.T) {
	env := newEnv(t, Variable("l", Dyn), Variable("m", Dyn))
	elements := []any{int64(3), "a", nil, []any{int64(1)}, tree.Tree{"n": int64(2)}, 1.5, true}
	same := []any{int64(3), "a", nil, []any{int64(1)}, tree.Tree{"n": int64(2)}, 1.5, true}
	evaluate := func(text string, l any) string {
		v, err := compile(t, env, text).Eval(t.Context(), Variables{"l": l, "m": same}, NewBudget(RuntimeBudget))
		if err != nil {
			return "error: " + err.Error()
		}
		native, err := Native(v)
		if err != nil {
			return "not native: " + err.Error()
		}
		return types.DefaultTypeAdapter.NativeToValue(native).Type().TypeName() + fmt.Sprintf(" %#v", native)
	}
	for _, text := range []string{
		`l`, `l[0]`, `l[6]`, `l[7]`, `l[-1]`, `l[1.0]`, `l[1.5]`, `l[2u]`, `l["a"]`, `l.size()`, `size(l)`, `l == m`, `m == l`, `l != m`, `l == [3]`, `l == 1`,
		`"a" in l`, `"b" in l`, `null in l`, `[1] in l`, `{"n": 2} in l`, `(l + m).size()`, `(m + l)[9]`, `l + 1`, `type(l) == list`, `dyn(l) == l`,
		`l.map(x, type(x) == string)`, `l.filter(x, type(x) == int)`, `l.exists(x, x == 1.5)`, `l.all(x, x == 3)`, `l.exists_one(x, x == "a")`,
		`l.all(i, x, i < 7)`, `l[4].n`, `l[3][0]`, `l.?n`, `l[?9].hasValue()`, `l[?0].value()`, `l.slice(1, 3)`, `l.flatten()`, `l.distinct()`, `l.reverse()`, `l.sort()`, `l.isSorted()`,
		`l.indexOf("a")`, `l.first()`, `l.last()`, `sets.contains(l, m)`, `sets.equivalent(l, m)`, `sets.intersects(l, ["a"])`, `l.sum()`, `l.max()`,
	} {
		got, want := evaluate(text, elements), evaluate(text, types.NewDynamicList(adapter{}, elements))
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
