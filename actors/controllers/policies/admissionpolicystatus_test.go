package policies

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestCheckedKinds checks that the number of kinds checked for a policy is bounded, regardless of
// the number of combinations in its rules.
func TestCheckedKinds(t *testing.T) {
	t.Parallel()
	kinds := must.Get(catalog.New(meta.Platform))(t)
	list := func(names ...any) []any { return names }
	rule := func(groups, versions, resources []any) tree.Tree {
		return tree.Tree{"apiGroups": groups, "apiVersions": versions, "resources": resources}
	}
	filled := func(names ...any) []any { // a rule of these alone has 27,000,000,000 combinations
		for i := range 3000 {
			names = append(names, fmt.Sprintf("n%d", i))
		}
		return names
	}
	core := list("pods", "nodes", "secrets", "configmaps", "services", "endpoints", "namespaces", "events", "bindings", "limitranges", "podtemplates")
	for _, c := range []struct {
		name  string
		rules []any
		want  string
	}{
		{"one", list(rule(list("apps"), list("v1"), list("deployments"))), "Deployment"},
		{"repeated", list(rule(list("apps", "apps"), list("v1"), list("deployments")), rule(list("apps"), list("v1"), list("deployments"))), "Deployment"},
		{"patterns", list(rule(list("*"), list("v1"), list("pods")), rule(list(""), list("*"), list("pods")), rule(list(""), list("v1"), list("*", "pods/status", "nodes"))), "Node"},
		{"many combinations", list(rule(filled("", "apps"), filled("v1"), filled("pods", "deployments"))), "Pod Deployment"},
		{"too many ends", list(rule(list(""), list("v1"), core), rule(list("apps"), list("v1"), list("deployments"))),
			"Binding ConfigMap Endpoints Event LimitRange Namespace Node Pod PodTemplate Secret"},
	} {
		var got []string
		p := NewAdmissionPolicyStatus(reconcile.NewEnv(nil, kinds, slog.New(slog.DiscardHandler)))
		for _, k := range p.checked(t.Context(), tree.Tree{"matchConstraints": tree.Tree{"resourceRules": c.rules}}) {
			got = append(got, k.Kind.Kind)
		}
		if names := strings.Join(got, " "); names != c.want {
			t.Errorf("%s: %s, want %s", c.name, names, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p := NewAdmissionPolicyStatus(reconcile.NewEnv(nil, kinds, slog.New(slog.DiscardHandler)))
	if got := p.checked(ended, tree.Tree{"matchConstraints": tree.Tree{"resourceRules": list(rule(list("apps"), list("v1"), list("deployments")))}}); got != nil {
		t.Errorf("after the end: %v", got)
	}
}
