package crd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func repeated(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

// TestValidationBudget checks that every expensive schema keyword consumes an object's validation
// budget. Once the budget is exceeded, validation must end with an error at the path of the value.
func TestValidationBudget(t *testing.T) {
	const budget = 100_000
	text := strings.Repeat("x", 10_000)
	for _, c := range []struct{ name, schema, value string }{
		{"anyOf", `{"type":"array","items":{"anyOf":` + repeated(100, `{"minimum":7}`) + `}}`, repeated(1000, "1")},
		{"oneOf", `{"type":"array","items":{"oneOf":` + repeated(100, `{"minimum":7}`) + `}}`, repeated(1000, "1")},
		{"allOf", `{"type":"array","items":{"allOf":` + repeated(100, `{"minimum":0}`) + `}}`, repeated(1000, "1")},
		{"not", `{"type":"array","items":{"not":{"anyOf":` + repeated(100, `{"minimum":7}`) + `}}}`, repeated(1000, "1")},
		{"a long text", `{"type":"string","pattern":"^(x|y{900})*$"}`, `"` + text + `"`},
		{"many texts", `{"type":"array","items":{"type":"string","pattern":"^(x|y{90})*$"}}`, repeated(1000, `"`+text[:100]+`"`)},
		{"required", `{"type":"array","items":{"required":` + repeated(1000, `"n"`) + `}}`, repeated(1000, "{}")},
		{"enum of lists", `{"type":"array","items":{"anyOf":` + repeated(100, `{"enum":[[1]]}`) + `}}`, repeated(100, repeated(100, "1"))},
		{"set", `{"type":"array","items":{"anyOf":` + repeated(100, `{"uniqueItems":true}`) + `}}`, repeated(100, repeated(100, "1"))},
		{"values", `{"type":"array","items":{"type":"integer","minimum":0}}`, repeated(100_000, "1")},
	} {
		n := compiled(t, `{"type":"object","properties":{"a":`+c.schema+`}}`)
		faults := schema.Faults{Work: schema.NewWork(t.Context(), budget)}
		rules.ValidateValue(n.rootValues(), parseTree(t, `{"a":`+c.value+`}`), nil, &faults)
		if n := len(faults.List); n == 0 || !strings.HasPrefix(faults.List[n-1].Field, "a") || !strings.Contains(faults.List[n-1].Message, "the cost of validation exceeds") {
			t.Errorf("%s: %d faults, the last one is %v", c.name, n, faults.List[max(n-1, 0):])
		}
	}
}

// A fadingContext is canceled at the nth call to Err.
type fadingContext struct {
	context.Context
	rest int
}

func (c *fadingContext) Err() error {
	if c.rest--; c.rest <= 0 {
		return context.Canceled
	}
	return nil
}

// TestValidationEndsWithContext checks that validation ends when the context is canceled, with an
// error but without causes.
func TestValidationEndsWithContext(t *testing.T) {
	k := kindOf(t, `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":`+repeated(100, `{"minimum":7}`)+`}}}}`)
	ctx := &fadingContext{t.Context(), 3}
	causes, err := rules.ValidateServed(ctx, k, parseTree(t, `{"a":`+repeated(10_000, "1")+`}`), nil)
	var status *meta.Status
	if !errors.As(err, &status) || status.Reason != meta.ReasonTimeout || causes != nil {
		t.Errorf("%v, %v", causes, err)
	}
	if ctx.rest != 0 {
		t.Errorf("%d more checks of the context", ctx.rest)
	}
}

func kindOf(t *testing.T, text string) *schema.Kind {
	t.Helper()
	c := NewCompiler(meta.Platform, schema.NewMessage("meta.v1.ObjectMeta", &schema.Field{Name: "name"}), nil)
	return c.Compile(parseTree(t, `{"metadata":{"name":"a.b.c"},"spec":{"group":"b.c","names":{"plural":"a","kind":"A"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":`+text+`}}]}}`)).Stored
}

// TestSchemaCost checks which schemas are rejected as too expensive, and the path of the error.
func TestSchemaCost(t *testing.T) {
	const large = `"pattern":"^(x|y{900})*$"`
	unions := func(n int) string { return `"anyOf":` + repeated(n, `{"required":["n"]}`) }
	for _, c := range []struct{ schema, want string }{
		{`{"type":"string",` + large + `}`, ""},
		{`{"type":"string",` + large + `,"allOf":[{` + large + `}]}`, "a"},
		{`{"type":"string","maxLength":1000,` + large + `,"allOf":[{` + large + `}]}`, ""},
		{`{"type":"array","items":{"type":"string","maxLength":1000,` + large + `,"allOf":[{` + large + `}]}}`, "a"},
		{`{"type":"array","maxItems":100,"items":{"type":"string","maxLength":1000,` + large + `,"allOf":[{` + large + `}]}}`, ""},
		{`{"type":"object","additionalProperties":{"type":"object",` + unions(200) + `}}`, "a"},
		{`{"type":"object","maxProperties":100,"additionalProperties":{"type":"object","properties":{"b":{"type":"boolean"}},"maxProperties":1,` + unions(100) + `}}`, ""},
		{`{"type":"array","items":{"type":"object",` + unions(30) + `}}`, ""},
		{`{"type":"array","items":{"not":{` + unions(200) + `}}}`, "a"},
		{`{"type":"object","properties":{"b":{"type":"array","maxItems":100000,"items":{` + unions(400) + `}}}}`, ""},
		{`{"type":"object","properties":{"b":{"type":"string",` + large + `},"c":{"type":"string",` + large + `}}}`, ""},
	} {
		var faults schema.Faults
		costChecker{&faults}.cost(compiled(t, c.schema), "a")
		got := ""
		if len(faults.List) > 0 {
			got = faults.List[0].Field
		}
		if got != c.want || len(faults.List) > 1 {
			t.Errorf("%s: %v, want %q", c.schema[:min(len(c.schema), 200)], faults.List, c.want)
		}
	}
}

// TestLongKeys checks that validation below a long key does not build the path of each value, and
// that the number and length of reported paths are limited.
func TestLongKeys(t *testing.T) {
	inner := tree.Tree{}
	for i := range 3000 {
		inner[tree.IndexPath("k", i)] = tree.Tree{"x": int64(1)}
	}
	n := compiled(t, `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"object","additionalProperties":{"type":"object"}}}}}`)
	pruned, unknown := rules.Prune(n.rootValues(), tree.Tree{"m": tree.Tree{strings.Repeat("k", 100_000): inner}})
	if len(unknown) != rules.MaxUnknown || slices.ContainsFunc(unknown, func(path string) bool { return len(path) > 1<<10 }) {
		t.Errorf("%d unknown fields", len(unknown))
	}
	for _, below := range pruned.Object("m") {
		if below := below.(tree.Tree); len(below) != len(inner) || len(below.Object("k[7]")) > 0 {
			t.Errorf("%d objects, %v", len(below), below["k[7]"])
		}
	}
}
