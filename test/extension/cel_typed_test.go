package extension

import (
	"math/rand"
	"testing"

	celgo "github.com/google/cel-go/cel"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	referencecel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
)

func ourSchema(s tree.Tree) *cel.Schema {
	limit := func(name string) *int64 {
		if n, ok := s.Int(name); ok {
			return &n
		}
		return nil
	}
	c := &cel.Schema{
		Type: s.String("type"), Format: s.String("format"), Required: s.Strings("required"), Enum: s.List("enum"),
		ListType: s.String("x-kubernetes-list-type"), ListKeys: s.Strings("x-kubernetes-list-map-keys"), IntOrString: s.Bool("x-kubernetes-int-or-string"),
		Embedded: s.Bool("x-kubernetes-embedded-resource"), PreserveUnknown: s.Bool("x-kubernetes-preserve-unknown-fields"),
		MaxLength: limit("maxLength"), MaxItems: limit("maxItems"), MaxProperties: limit("maxProperties"),
	}
	if properties, ok := s["properties"].(tree.Tree); ok {
		c.Properties = map[string]*cel.Schema{}
		for name, p := range properties {
			c.Properties[name] = ourSchema(p.(tree.Tree))
		}
	}
	if more, ok := s["additionalProperties"].(tree.Tree); ok {
		c.Additional = ourSchema(more)
	}
	if items, ok := s["items"].(tree.Tree); ok {
		c.Items = ourSchema(items)
	}
	return c
}

// TestTypedCosts compares estimated and actual costs of rules on random schemas with the reference
// implementation.
func TestTypedCosts(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewSource(int64(client.Seed(t, 7)))), false}
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 37))
	count := 0
	for range 120 {
		s := g.object(2 + g.Intn(2))
		delete(s, "x-kubernetes-embedded-resource")
		delete(s.Object("properties"), "metadata")
		structural, err := structuralschema.NewStructural(internalSchema(t, codec.AppendAny(nil, s)))
		if err != nil {
			t.Fatal(err)
		}
		ours := ourSchema(s)
		env, err := cel.NewEnv(meta.Kubernetes, cel.Variable("self", cel.NewType(ours, "@self", true)))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			rule := g.condition("self", s, 0)
			structural.XValidations = apiextensions.ValidationRules{{Rule: rule}}
			results, err := referencecel.Compile(structural, model.SchemaDeclType(structural, true), celconfig.PerCallLimit, base, referencecel.NewExpressionsEnvLoader())
			if err != nil {
				t.Fatal(err)
			}
			checked, err := env.Check(rule)
			if (err != nil) != (results[0].Error != nil) {
				t.Fatalf("%s: %v, reference %v", rule, err, results[0].Error)
			}
			if err != nil {
				continue
			}
			if cost, err := checked.EstimateCost(); err != nil || cost != results[0].MaxCost {
				t.Errorf("%s\n%s: estimated %d (%v), reference %d", codec.AppendAny(nil, s), rule, cost, err, results[0].MaxCost)
			}
			program, err := checked.Program()
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				count++
				object := g.widget(s)
				compareRun(t, rule, program, results[0].Program, ours.AsResource().Value(object), referencecel.UnstructuredToVal(plain(object), model.WithTypeAndObjectMeta(structural)))
			}
		}
	}
	t.Logf("%d evaluations", count)
}

// TestTypedLists compares operations on lists of the types set and map, including ones with
// duplicates, with the reference implementation.
func TestTypedLists(t *testing.T) {
	t.Parallel()
	list := func(listType string, items tree.Tree) tree.Tree {
		return tree.Tree{"type": "array", "items": items, "x-kubernetes-list-type": listType}
	}
	part := tree.Tree{"type": "object", "properties": tree.Tree{"key": tree.Tree{"type": "string"}, "n": tree.Tree{"type": "integer"}}}
	parts := list("map", part)
	parts["x-kubernetes-list-map-keys"] = []any{"key"}
	text := tree.Tree{"type": "string"}
	s := tree.Tree{"type": "object", "properties": tree.Tree{
		"set": list("set", text), "twice": list("set", text), "objects": list("set", part), "parts": parts, "more": parts,
	}}
	structural, err := structuralschema.NewStructural(internalSchema(t, codec.AppendAny(nil, s)))
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := tree.Tree{"key": "a", "n": int64(1)}, tree.Tree{"key": "b"}, tree.Tree{"key": "c"}
	object := tree.Tree{
		"set": []any{"a", "b"}, "twice": []any{"a", "a"}, "objects": []any{a, b}, "parts": []any{a, b}, "more": []any{c, c},
	}
	ours := ourSchema(s)
	env, err := cel.NewEnv(meta.Kubernetes, cel.Variable("self", cel.NewType(ours, "@self", true)))
	if err != nil {
		t.Fatal(err)
	}
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 37))
	for _, rule := range []string{
		`self.set == ["b", "a"]`, `self.set == ["a", "c"]`, `self.set == ["a", "a"]`, `self.set == self.twice`,
		`self.twice == self.set`, `self.twice == self.twice`, `self.set + ["c", "c"] == ["c", "b", "a"]`,
		`(self.set + self.twice).size() == 2`, `(self.twice + self.set).size() == 3`,
		`self.objects == self.objects`, `self.objects == []`,
		`self.parts == [self.parts[1], self.parts[0]]`, `self.parts == [self.parts[0], self.parts[0]]`,
		`self.more == self.more`, `(self.more + [self.more[0], self.more[0]]).size() == 2`, `self.parts + [self.parts[1]] == self.parts`,
	} {
		structural.XValidations = apiextensions.ValidationRules{{Rule: rule}}
		results, err := referencecel.Compile(structural, model.SchemaDeclType(structural, true), celconfig.PerCallLimit, base, referencecel.NewExpressionsEnvLoader())
		if err != nil || results[0].Error != nil {
			t.Fatalf("%s: %v, %v", rule, err, results)
		}
		program, err := env.Compile(rule)
		if err != nil {
			t.Fatal(err)
		}
		compareRun(t, rule, program, results[0].Program, ours.AsResource().Value(object), referencecel.UnstructuredToVal(plain(object), model.WithTypeAndObjectMeta(structural)))
	}
}

func compareRun(t *testing.T, rule string, ours *cel.Program, reference celgo.Program, ourSelf cel.Value, self any) {
	t.Helper()
	b := cel.NewBudget(cel.RuntimeBudget)
	v, err := ours.Eval(t.Context(), cel.Variables{"self": ourSelf}, b)
	cost := cel.RuntimeBudget - b.Remaining()
	w, details, referenceErr := reference.ContextEval(t.Context(), map[string]any{"self": self})
	for range 50 { // the cost depends on the random order of maps
		if sameCost(cost, *details.ActualCost(), err != nil) {
			break
		}
		w, details, referenceErr = reference.ContextEval(t.Context(), map[string]any{"self": self})
	}
	switch {
	case (err != nil) != (referenceErr != nil), err != nil && err.Error() != referenceErr.Error():
		t.Errorf("%s: %v, reference %v", rule, err, referenceErr)
	case err == nil && v.Value() != w.Value():
		t.Errorf("%s: %v, reference %v", rule, v, w)
	case !sameCost(cost, *details.ActualCost(), err != nil):
		t.Errorf("%s: for %d, reference for %d", rule, cost, *details.ActualCost())
	}
}
