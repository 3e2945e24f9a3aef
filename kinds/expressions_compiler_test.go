package kinds_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func parseTree(t *testing.T, text string) tree.Tree {
	t.Helper()
	var o tree.Tree
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// TestRemembered checks that the cache key of a policy consists of exactly the fields that affect
// its compilation.
func TestRemembered(t *testing.T) {
	c := expressions.NewCompiler(meta.Platform)
	spec := parseTree(t, `{"validations":[{"expression":"variables.a"}],"variables":[{"name":"a","expression":"true"}],"failurePolicy":"Fail"}`)
	first := c.Validating(spec)
	spec["failurePolicy"] = "Ignore"
	if c.Validating(spec) != first {
		t.Error("it is compiled again for a field without expressions")
	}
	if c.Mutating(spec) == first {
		t.Error("a mutating policy is taken for a validating one")
	}
	spec["paramKind"] = tree.Tree{"apiVersion": "v1", "kind": "ConfigMap"}
	if c.Validating(spec) == first {
		t.Error("params are not known")
	}
	for i := range 10 { // more than the cache holds
		c.Validating(parseTree(t, fmt.Sprintf(`{"validations":[{"expression":"'%d' != '%s'"}]}`, i, strings.Repeat("x", 60<<10))))
	}
	delete(spec, "paramKind")
	if c.Validating(spec) == first {
		t.Error("all is remembered")
	}
}

// TestFaults checks that an error in one expression does not affect others, and that Authorizes
// reports the use of the authorizer.
func TestFaults(t *testing.T) {
	p := expressions.NewCompiler(meta.Kubernetes).Validating(parseTree(t, `{"matchConditions":[{"name":"c","expression":" true "}],
		"variables":[{"name":"a","expression":"object.x"},{"name":"b","expression":"variables.c"},{"name":"c","expression":"request.userInfo"}],
		"validations":[{"expression":"variables.a == 1 && variables.b"},{"expression":"1","messageExpression":"'m'"}],"auditAnnotations":[{"key":"k","valueExpression":"authorizer.path('/').check('get').reason()"}]}`))
	if p.Conditions[0].Err != nil || p.Conditions[0].Text != "true" || p.Validations[0].Err != nil || p.Messages[0] != nil || p.Messages[1].Err != nil {
		t.Errorf("%+v", p)
	}
	if err := p.Variable("b").Err; err == nil || !strings.Contains(err.Error(), "undefined field 'c'") {
		t.Errorf("b: %v", err)
	}
	if err := p.Validations[1].Err; err == nil || err.Error() != "must evaluate to bool but got int" {
		t.Errorf("the second validation: %v", err)
	}
	if !p.Authorizes || p.Validations[0].Authorizes {
		t.Error("the expressions that use the authorizer are not reported")
	}
}

func TestCheckTypes(t *testing.T) {
	c := expressions.NewCompiler(meta.Platform)
	kinds := []expressions.Checked{
		{Kind: meta.GroupVersionKind{Group: "g", Version: "v1", Kind: "A"}, Type: cel.ObjectOf("@a", map[string]*cel.Type{"x": cel.Int})},
		{Kind: meta.GroupVersionKind{Version: "v1", Kind: "B"}, Type: cel.ObjectOf("@b", map[string]*cel.Type{"x": cel.String})},
	}
	got, err := c.CheckTypes(t.Context(), parseTree(t, `{"variables":[{"name":"v","expression":"object.x"}],"validations":[{"expression":"variables.v == 1"},{"expression":"true","messageExpression":"object.y"},{"expression":"params == null"}]}`), kinds, nil)
	if err != nil || len(got) != 3 || got[0].FieldRef != "spec.validations[0].expression" || !strings.HasPrefix(got[0].Text, "/v1, Kind=B: ERROR: <input>:1:13: found no matching overload") ||
		got[1].FieldRef != "spec.validations[1].messageExpression" || !strings.Contains(got[1].Text, "g/v1, Kind=A: ERROR") || !strings.Contains(got[2].Text, "undeclared reference to 'params'") {
		t.Errorf("%q", got)
	}
}
