package match_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/match"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) tree.Tree {
	t.Helper()
	var o tree.Tree
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

func readCases[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(text, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: no cases, %v", name, err)
	}
	return all
}

func kinds(t *testing.T) func(name string) *schema.Kind {
	t.Helper()
	c, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) *schema.Kind {
		parts := strings.Split(name, "/")
		k := c.Kind(parts[0], parts[1], parts[2])
		if k == nil {
			t.Fatalf("no kind %s", name)
		}
		return k
	}
}

func follow(t *testing.T, labels map[string]string) *match.Namespaces {
	t.Helper()
	n := match.NewNamespaces()
	if err := n.Follow(t.Context(), fakeObjects{labels: labels}); err != nil {
		t.Fatal(err)
	}
	return n
}

type fakeObjects struct {
	policy.Objects
	labels map[string]string
}

func TestRules(t *testing.T) {
	kind := kinds(t)
	for _, c := range readCases[struct {
		Rules                json.RawMessage
		Kind, Sub, Operation string
		Reviews, Want        bool
	}](t, "rules") {
		criteria, err := match.ForWebhook(parse(t, `{"rules":`+string(c.Rules)+`}`), served)
		if err != nil {
			t.Fatal(err)
		}
		criteria.Reviews = c.Reviews
		k, operation := kind(c.Kind), map[string]request.Operation{"CREATE": request.OnCreate, "UPDATE": request.OnUpdate, "DELETE": request.OnDelete, "CONNECT": request.OnConnect}[c.Operation]
		got, err := criteria.Match(change(k, c.Sub, operation, tree.Tree{}, tree.Tree{}), match.NewNamespaces())
		if err != nil || (got == k) != c.Want || (got == nil) == c.Want {
			t.Errorf("%s: %s of %s/%s matches as %v, %v; want %t", c.Rules, c.Operation, c.Kind, c.Sub, got, err, c.Want)
		}
		if criteria.Selects(k, c.Sub) != (c.Want || strings.Contains(string(c.Rules), "UPDATE")) {
			t.Errorf("%s selects %s/%s: %t", c.Rules, c.Kind, c.Sub, !c.Want)
		}
	}
}

func change(k *schema.Kind, sub string, o request.Operation, old, now tree.Tree) *request.Attributes {
	switch o {
	case request.OnCreate:
		old = nil
	case request.OnDelete:
		now = nil
	}
	m := &request.Mutation{Kind: k, Subresource: sub}
	switch o {
	case request.OnCreate:
		m.Change = request.Create{Object: now}
	case request.OnUpdate:
		m.Change = request.Update{Object: now}
	case request.OnDelete:
		m.Change = request.Delete{}
	case request.OnConnect:
		m.Change = request.Connect{}
	}
	a := request.NewAttributes(context.Background(), m, old, now)
	a.Key.Name = "x"
	if k.Namespaced {
		a.Key.Namespace = "n"
	}
	return a
}

func served(*schema.Kind) bool { return true }

func TestUnservedVersions(t *testing.T) {
	kind := kinds(t)
	withoutV1 := func(k *schema.Kind) bool { return k.APIVersion() != "autoscaling/v1" }
	const v1 = `[{"operations":["*"],"apiGroups":["autoscaling"],"apiVersions":["v1"],"resources":["horizontalpodautoscalers"]}]`
	for _, c := range []struct {
		text          string
		policy        bool
		served        match.Served
		matches, asV1 bool
	}{
		{`{"matchPolicy":"Equivalent","rules":` + v1 + `}`, false, served, true, true},
		{`{"matchPolicy":"Equivalent","rules":` + v1 + `}`, false, withoutV1, false, false},
		{`{"matchPolicy":"Equivalent","resourceRules":` + v1 + `}`, true, withoutV1, false, false},
		{`{"matchPolicy":"Equivalent","excludeResourceRules":` + v1 + `}`, true, served, false, false},
		{`{"matchPolicy":"Equivalent","excludeResourceRules":` + v1 + `}`, true, withoutV1, true, false},
	} {
		criteria, err := match.ForWebhook(parse(t, c.text), c.served)
		if c.policy {
			criteria, err = match.ForPolicy(parse(t, c.text), c.served)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := criteria.Match(change(kind("autoscaling/v2/horizontalpodautoscalers"), "", request.OnUpdate, tree.Tree{}, tree.Tree{}), match.NewNamespaces())
		if err != nil || (got != nil) != c.matches || got != nil && (got.Version == "v1") != c.asV1 {
			t.Errorf("%s: matches as %v, %v", c.text, got, err)
		}
	}
}

func TestMatchPolicy(t *testing.T) {
	kind := kinds(t)
	for _, c := range readCases[struct {
		Policy          string
		Rules           json.RawMessage
		Kind, Sub, Want string
	}](t, "matchpolicy") {
		criteria, err := match.ForWebhook(parse(t, `{"matchPolicy":"`+c.Policy+`","rules":`+string(c.Rules)+`}`), served)
		if err != nil {
			t.Fatal(err)
		}
		got, err := criteria.Match(change(kind(c.Kind), c.Sub, request.OnUpdate, tree.Tree{}, tree.Tree{}), match.NewNamespaces())
		if err != nil {
			t.Fatal(err)
		}
		version := ""
		if got != nil {
			version = got.APIVersion()
		}
		if version != c.Want {
			t.Errorf("%s %s: %s matches as %q, want %q", c.Policy, c.Rules, c.Kind, version, c.Want)
		}
	}
}

func TestPolicyCriteria(t *testing.T) {
	kind := kinds(t)
	for _, c := range readCases[struct {
		Text json.RawMessage
		Want bool
	}](t, "criteria") {
		criteria, err := match.ForPolicy(parse(t, string(c.Text)), served)
		if err != nil {
			t.Fatal(err)
		}
		got, err := criteria.Match(change(kind("/v1/pods"), "", request.OnCreate, nil, tree.Tree{}), match.NewNamespaces())
		if err != nil || (got != nil) != c.Want {
			t.Errorf("%s: %v, %v; want %t", c.Text, got, err, c.Want)
		}
	}
}

func TestSelectors(t *testing.T) {
	kind := kinds(t)
	namespaces := follow(t, map[string]string{"n": "in"})
	labelled := func(value string) tree.Tree {
		return tree.Tree{"metadata": tree.Tree{"name": "x", "labels": tree.Tree{"l": value}}}
	}
	const rules = `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]`
	const object, namespace = `{"objectSelector":{"matchLabels":{"l":"in"}},` + rules + `}`, `{"namespaceSelector":{"matchLabels":{"l":"in"}},` + rules + `}`
	const unmarked = `{"objectSelector":{"matchExpressions":[{"key":"l","operator":"DoesNotExist"}]},` + rules + `}`
	deployment := func() tree.Tree {
		return tree.Tree{"metadata": tree.Tree{"name": "x", "labels": tree.Tree{"l": "in"}}, "spec": tree.Tree{"replicas": int64(1)}}
	}
	scaled := func(body tree.Tree) *request.Attributes {
		a := change(kind("apps/v1/deployments"), "scale", request.OnUpdate, deployment(), deployment())
		a.Mutation.Change = request.Update{Object: body}
		return a
	}
	const others = `{"namespaceSelector":{"matchExpressions":[{"key":"l","operator":"NotIn","values":["in"]}]},` + rules + `}`
	for _, c := range []struct {
		label, criteria string
		change          *request.Attributes
		want            bool
	}{
		{"the new object", object, change(kind("/v1/pods"), "", request.OnCreate, nil, labelled("in")), true},
		{"another label", object, change(kind("/v1/pods"), "", request.OnCreate, nil, labelled("out")), false},
		{"the old object", object, change(kind("/v1/pods"), "", request.OnUpdate, labelled("in"), labelled("out")), true},
		{"a deleted object", object, change(kind("/v1/pods"), "", request.OnDelete, labelled("in"), nil), true},
		{"no labels", object, change(kind("/v1/pods"), "", request.OnCreate, nil, tree.Tree{"metadata": tree.Tree{}}), false},
		{"no metadata", object, change(kind("/v1/pods"), "", request.OnCreate, nil, tree.Tree{}), false},
		{"the body of a sub-resource", object, change(kind("apps/v1/deployments"), "scale", request.OnUpdate, labelled("in"), tree.Tree{}), false},
		{"a patched scale", unmarked, scaled(nil), true},
		{"a scale without metadata", unmarked, scaled(tree.Tree{}), true},
		{"a scale that was not marked before", unmarked, scaled(labelled("in")), true},
		{"a marked scale", object, scaled(labelled("in")), true},
		{"an unmarked object without metadata", unmarked, change(kind("/v1/pods"), "", request.OnCreate, nil, tree.Tree{}), true},
		{"nothing", unmarked, change(kind("/v1/pods"), "", request.OnDelete, nil, nil), false},
		{"the namespace", namespace, change(kind("/v1/pods"), "", request.OnCreate, nil, labelled("out")), true},
		{"another namespace", others, change(kind("/v1/pods"), "", request.OnCreate, nil, labelled("out")), false},
		{"no namespace", others, change(kind("/v1/nodes"), "", request.OnCreate, nil, labelled("in")), true},
		{"a new namespace", namespace, change(kind("/v1/namespaces"), "", request.OnCreate, nil, labelled("in")), true},
		{"a changed namespace", namespace, change(kind("/v1/namespaces"), "", request.OnUpdate, labelled("in"), labelled("out")), false},
	} {
		criteria, err := match.ForWebhook(parse(t, c.criteria), served)
		if err != nil {
			t.Fatal(err)
		}
		got, err := criteria.Match(c.change, namespaces)
		if err != nil || (got != nil) != c.want {
			t.Errorf("%s: %v, %v; want %t", c.label, got, err, c.want)
		}
	}
	absent := change(kind("/v1/pods"), "", request.OnCreate, nil, tree.Tree{})
	absent.Key.Namespace = "absent"
	criteria, _ := match.ForWebhook(parse(t, namespace), served)
	if _, err := criteria.Match(absent, namespaces); err == nil || err.Error() != `namespaces "absent" not found` {
		t.Errorf("an absent namespace: %v", err)
	}
	if _, err := match.ForWebhook(parse(t, `{"objectSelector":{"matchExpressions":[{"key":"a","operator":"Like"}]}}`), served); err == nil {
		t.Error("an unknown operator is accepted")
	}
}

func TestOperationOf(t *testing.T) {
	pods := kinds(t)("/v1/pods")
	a := change(pods, "binding", request.OnUpdate, tree.Tree{}, tree.Tree{})
	a.Mutation.Change = request.Create{}
	if got := match.OperationOf(a); got != match.Create {
		t.Errorf("a binding is a %s", got)
	}
	a.Subresource = "" // an apply that creates the object
	if got := match.OperationOf(a); got != match.Update {
		t.Errorf("an update is a %s", got)
	}
}

func TestIndex(t *testing.T) {
	kind := kinds(t)
	of := func(resource string) *match.Criteria {
		c, err := match.ForWebhook(parse(t, `{"rules":[{"operations":["CREATE"],"apiGroups":["*"],"apiVersions":["*"],"resources":["`+resource+`"]}]}`), served)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	all := map[string]*match.Criteria{"a": of("pods"), "b": of("services"), "c": of("*")}
	x := match.NewIndex([]string{"c", "a", "b"}, func(name string) *match.Criteria { return all[name] })
	for range 2 {
		if got := strings.Join(x.Select(kind("/v1/pods"), ""), " "); got != "c a" {
			t.Errorf("pods are selected by %s", got)
		}
		if got := x.Select(kind("/v1/pods"), "status"); got != nil {
			t.Errorf("a sub-resource is selected by %s", got)
		}
	}
	pods := kind("/v1/pods")
	if got := testing.AllocsPerRun(100, func() { x.Select(pods, "status") }); got > 0 {
		t.Errorf("%v allocations", got)
	}
}
