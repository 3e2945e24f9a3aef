package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/review"
	"github.com/troupe-api/troupe/policy/authn"
)

func TestView(t *testing.T) {
	c, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	maps, deployments, pods := c.Kind("", "v1", "configmaps"), c.Kind("apps", "v1", "deployments"), c.Kind("", "v1", "pods")
	v1, v2 := c.Kind("autoscaling", "v1", "horizontalpodautoscalers"), c.Kind("autoscaling", "v2", "horizontalpodautoscalers")
	grace := int64(5)
	named := func(more string) tree.Tree {
		v, _, err := codec.DecodeAny([]byte(`{"metadata":{"name":"a","uid":"u"}` + more + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return v.(tree.Tree)
	}
	for _, test := range []struct {
		name                 string
		change               request.Attributes
		mutation             request.Mutation
		object, old, options string
	}{
		{"a create", request.Attributes{Operation: request.OnCreate, Kind: maps, New: named("")}, request.Mutation{Change: request.Create{Object: named("")}},
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, `null`, `{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}`},
		{"a generated name", request.Attributes{Operation: request.OnCreate, Kind: maps, New: named("")}, request.Mutation{Change: request.Create{Object: tree.Tree{}}},
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}`, `null`, `{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}`},
		{"an update", request.Attributes{Operation: request.OnUpdate, Kind: maps, Old: named(`,"data":{"a":"b"}`), New: named(""), OldVersion: 7}, request.Mutation{Change: request.Update{Object: named("")}},
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7","uid":"u"}}`, `{"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7","uid":"u"}}`,
			`{"apiVersion":"meta.k8s.io/v1","kind":"UpdateOptions"}`},
		{"a delete", request.Attributes{Operation: request.OnDelete, Kind: maps, Old: named("")}, request.Mutation{Change: request.Delete{GracePeriodSeconds: &grace, UID: new("u")}, DryRun: true},
			`null`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u"}}`, `{"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"gracePeriodSeconds":5,"kind":"DeleteOptions","preconditions":{"uid":"u"}}`},
		{"another version", request.Attributes{Operation: request.OnUpdate, Kind: v2, Old: named(""), New: named(`,"spec":{"maxReplicas":3}`)}, request.Mutation{Change: request.Update{}},
			`{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","uid":"u"},"spec":{"maxReplicas":3}}`, ``, ``},
		{"a scale", request.Attributes{Operation: request.OnUpdate, Kind: deployments, Subresource: "scale", Old: named(`,"spec":{"replicas":1}`), New: named(`,"spec":{"replicas":2}`)}, request.Mutation{Change: request.Update{}, Subresource: "scale"},
			`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","uid":"u"},"spec":{"replicas":2},"status":{"replicas":0}}`, ``, ``},
		{"a binding", request.Attributes{Operation: request.OnUpdate, Kind: pods, Subresource: "binding", Old: named(""), New: named("")}, request.Mutation{Subresource: "binding", Change: request.Create{Object: named(`,"target":{"name":"n"}`)}},
			`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"a","uid":"u"},"target":{"name":"n"}}`, `null`, `{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}`},
	} {
		a := test.change
		a.Mutation, a.User, a.Key.Name = &test.mutation, &authn.User{Name: "u"}, "a"
		before := string(codec.AppendAny(nil, []any{a.Old, a.New}))
		kind := a.Kind
		if kind == v2 {
			kind = v1
		}
		v, err := review.NewView(&a, kind)
		if err != nil {
			t.Fatal(err)
		}
		v.BeforeCreation()
		check := func(label, want string, got any) {
			t.Helper()
			if text := string(codec.AppendAny(nil, got)); want != "" && text != want {
				t.Errorf("%s: %s %s, want %s", test.name, label, text, want)
			}
		}
		check("object", test.object, orNull(v.Object))
		check("old object", test.old, orNull(v.OldObject))
		check("options", test.options, v.Request(meta.Kubernetes)["options"])
		if after := string(codec.AppendAny(nil, []any{a.Old, a.New})); after != before {
			t.Errorf("%s: the request has become %s", test.name, after)
		}
	}
}

func orNull(t tree.Tree) any {
	if t == nil {
		return nil
	}
	return t
}
