package admissionpolicy_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/admissionpolicy"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

type fakeObjects map[string][]tree.Tree

func (f fakeObjects) Get(meta.GroupResource, string, string) *policy.Object { return nil }

func (f fakeObjects) Inform(_ context.Context, r meta.GroupResource, onChange func(policy.Change)) error {
	for _, t := range f[r.Resource] {
		metadata := t.Object("metadata")
		onChange(policy.Change{Object: &policy.Object{Key: meta.Key{GroupResource: r, Namespace: metadata.String("namespace"), Name: metadata.String("name")}, Tree: t}})
	}
	return nil
}

func parse(t testing.TB, text string) tree.Tree {
	t.Helper()
	var o tree.Tree
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

type fixture struct {
	kinds                *catalog.Catalog
	validating, mutating admission.Registration
}

func newFixture(t testing.TB, objects fakeObjects) fixture {
	t.Helper()
	objects["namespaces"] = []tree.Tree{parse(t, `{"metadata":{"name":"default"}}`)}
	return newFixtureOf(t, objects)
}

func newFixtureOf(t testing.TB, objects policy.Objects) fixture {
	t.Helper()
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	o := admissionpolicy.Options{
		Evaluator: admissionpolicy.Evaluator{Naming: meta.Platform, Namespaces: match.NewNamespaces(), Authorizer: authz.AlwaysAllow{}},
		Compiler:  kinds.Expressions(), Params: admissionpolicy.NewParams(kinds), Metrics: admissionpolicy.NewMetrics(), Conditions: match.NewConditionMetrics(),
	}
	all := admissionpolicy.Registrations(o)
	f := fixture{kinds, all[1], all[2]}
	for _, r := range []admission.Registration{f.validating, f.mutating} {
		for _, cache := range r.Caches {
			if err := cache.Follow(t.Context(), objects); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

func (f fixture) create(t testing.TB, text string) *request.Attributes {
	k := f.kinds.Kind("", "v1", "pods")
	body := parse(t, text)
	m := &request.Mutation{Kind: k, Change: request.Create{Object: body}, Recorder: new(request.Recorder)}
	return &request.Attributes{
		User: &authn.User{Name: "jane", Groups: []string{"system:authenticated"}}, Operation: request.OnCreate, Kind: k,
		Key: meta.Key{Namespace: "default", Name: "p"}, New: body, Mutation: m, Context: t.Context(),
	}
}
