package extension

import (
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	referencecel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
)

const celDefinition = `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget","singular":"widget","listKind":"WidgetList"},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":%s}}]}}`

func internalSchema(t testing.TB, text []byte) *apiextensions.JSONSchemaProps {
	t.Helper()
	var external v1.JSONSchemaProps
	client.Decode(t, text, &external)
	var internal apiextensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		t.Fatal(err)
	}
	return &internal
}

var celTypeName = regexp.MustCompile(`selfType\d+`)

// definitionFaults returns the errors that the reference implementation and Troupe report for a
// schema's rules. valid is false if other parts of the schema have errors.
func definitionFaults(t testing.TB, s tree.Tree, text []byte) (wanted, got []string, valid bool) {
	definition := &apiextensions.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"}, Spec: apiextensions.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensions.NamespaceScoped, Names: apiextensions.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
		Versions: []apiextensions.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: internalSchema(t, text)}}},
	}, Status: apiextensions.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}}}
	const at = "spec.versions[0].schema.openAPIV3Schema"
	for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), definition) {
		if !strings.Contains(err.Field, "x-kubernetes-validations") && !strings.Contains(err.Detail, "estimated rule cost total") {
			if err.Field == "spec.preserveUnknownFields" || err.Field == "spec.versions" && strings.HasPrefix(err.Detail, "per-version schemas may not all be set") {
				continue
			}
			return nil, nil, false
		}
		wanted = append(wanted, celTypeName.ReplaceAllString(err.Field+": "+err.Detail, "@self"))
	}
	var faults schema.Faults
	crd.NewCompiler(meta.Kubernetes, nil, nil).CheckRules(s, at, &faults)
	for _, c := range faults.List {
		detail := c.Message
		for _, begin := range []string{"contributed to ", "estimated ", "x-kubernetes-validations estimated ", "compilation failed: ", "messageExpression compilation failed: ", "oldSelf cannot ",
			"may not be set ", "cel expression must ", "messageExpression must "} {
			if i := strings.Index(detail, ": "+begin); i >= 0 {
				detail = detail[i+2:]
				break
			}
		}
		got = append(got, c.Field+": "+nameOfType.ReplaceAllString(detail, "@self"))
	}
	for _, list := range [][]string{wanted, got} {
		for i, text := range list {
			if strings.HasSuffix(text, "total exceeding cost limit for entire OpenAPIv3 schema") {
				list[i] = "contributed" // which of several equal ones is named is random
			}
		}
	}
	for i := range wanted {
		wanted[i] = nameOfType.ReplaceAllString(wanted[i], "@self")
	}
	slices.Sort(got)
	slices.Sort(wanted)
	return wanted, got, true
}

// nameOfType matches type names in error messages. The names differ from the reference
// implementation's, because package crd derives them from the path in the whole schema.
var nameOfType = regexp.MustCompile(`@self[\w.@]*`)

// TestCELRules generates random schemas with rules. Troupe must reject the same rules and objects
// as the reference implementation, with the same errors.
func TestCELRules(t *testing.T) {
	t.Parallel()
	all, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	definitions := all.Kind("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	g := generator{rand.New(rand.NewSource(int64(client.Seed(t, 35)))), true}
	valid, refused, evaluated, failed := 0, 0, 0, 0
	for range 150 {
		s := g.object(2 + g.Intn(2))
		delete(s, "x-kubernetes-embedded-resource")
		delete(s.Object("properties"), "metadata")
		g.addRules(s, true)
		text := codec.AppendAny(nil, s)
		wanted, got, ok := definitionFaults(t, s, text)
		if !ok {
			continue
		}
		valid++
		if !slices.Equal(got, wanted) {
			t.Fatalf("%s\n ours:\n%s\n reference:\n%s", text, strings.Join(got, "\n"), strings.Join(wanted, "\n"))
		}
		if len(wanted) > 0 {
			refused++
			if strings.Contains(strings.Join(wanted, ""), "compilation failed") {
				continue
			}
		}
		body, _, err := codec.DecodeJSON(definitions.Message(), fmt.Appendf(nil, celDefinition, text))
		if err != nil {
			t.Fatal(err)
		}
		kind := all.Compile(body).Stored
		structural, err := structuralschema.NewStructural(internalSchema(t, text))
		if err != nil {
			t.Fatal(err)
		}
		validator := referencecel.NewValidator(structural, true, celconfig.PerCallLimit)
		for range 10 {
			object, old := g.widget(s), tree.Tree(nil)
			if g.Intn(2) == 0 {
				old = g.widget(s)
			}
			evaluated++
			wanted, got := referenceFaults(t, validator, structural, object, old), ourFaults(t, kind, object, old)
			if old != nil && (strings.Contains(string(text), "x-kubernetes-embedded-resource") || strings.Contains(string(text), "x-kubernetes-preserve-unknown-fields")) {
				continue // the reference never treats an object with unspecified fields as unchanged
			}
			if old != nil { // we do not evaluate unchanged values, so their evaluation cannot fail
				wrong := func(fault string) bool {
					return strings.Contains(fault, "evaluating rule: ") || strings.Contains(fault, "for rule: ")
				}
				wanted, got = slices.DeleteFunc(wanted, wrong), slices.DeleteFunc(got, wrong)
			}
			if len(wanted) > 0 {
				failed++
			}
			if !slices.Equal(got, wanted) {
				t.Fatalf("%s\n%s was %s\n ours:\n%s\n reference:\n%s", text, codec.AppendAny(nil, object), codec.AppendAny(nil, old), strings.Join(got, "\n"), strings.Join(wanted, "\n"))
			}
		}
	}
	t.Logf("%d schemas, %d of them refused; %d objects, %d of them refused", valid, refused, evaluated, failed)
}

func (g generator) widget(s tree.Tree) tree.Tree {
	t := g.value(s).(tree.Tree)
	t["apiVersion"], t["kind"], t["metadata"] = "example.com/v1", "Widget", tree.Tree{"name": "w"}
	return t
}

func referenceFaults(t testing.TB, validator *referencecel.Validator, structural *structuralschema.Structural, object, old tree.Tree) (faults []string) {
	var before any
	var options []referencecel.Option
	after := plain(object)
	if old != nil {
		before = plain(old)
		options = append(options, referencecel.WithRatcheting(common.NewCorrelatedObject(after, before, &model.Structural{Structural: structural})))
	}
	errs, _ := validator.Validate(t.Context(), nil, structural, after, before, celconfig.RuntimeCELCostBudget, options...)
	for _, err := range errs {
		faults = append(faults, err.Error())
	}
	slices.Sort(faults)
	return faults
}

func ourFaults(t testing.TB, kind *schema.Kind, object, old tree.Tree) (texts []string) {
	if !kind.Strategy.HasExpressions() {
		return nil
	}
	var faults schema.Faults
	kind.Strategy.Evaluate(t.Context(), object, old, &faults)
	for _, c := range faults.List {
		texts = append(texts, c.Field+": "+c.Message)
	}
	slices.Sort(texts)
	return texts
}
