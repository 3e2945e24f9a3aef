package policy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

func TestSwitches(t *testing.T) {
	var steps []string
	all := []admission.Registration{{Name: "AlwaysDeny"}, {Name: "ResourceQuota"}, {Name: ""}, {Name: "LimitRanger"}}
	for i := range all {
		all[i].Resources, all[i].Mutator = []string{"/pods"}, admissionRecorder{name: all[i].Name, steps: &steps}
	}
	for _, c := range []struct {
		switches    admission.PluginConfig
		ineffective []string
		want        string
	}{
		{admission.PluginConfig{}, nil, " admits, LimitRanger admits, ResourceQuota admits"},
		{admission.PluginConfig{Enabled: []string{"AlwaysDeny", "AlwaysAdmit"}}, []string{"AlwaysAdmit"}, " admits, LimitRanger admits, ResourceQuota admits, AlwaysDeny admits"},
		{admission.PluginConfig{Enabled: []string{"LimitRanger"}, Disabled: []string{"ResourceQuota", "PodSecurity"}}, []string{"PodSecurity"}, " admits, LimitRanger admits"},
		{admission.PluginConfig{Only: []string{"AlwaysDeny", "LimitRanger", "Priority"}}, []string{"Priority"}, " admits, LimitRanger admits, AlwaysDeny admits"},
	} {
		steps = nil
		switches := c.switches
		k := kind("", "pods")
		chain := admission.New(meta.Platform, switches, all)
		m := &request.Mutation{Kind: k, Admission: chain.For(nil, k, "", "")}
		if err := request.NewAttributes(t.Context(), m, nil, tree.Tree{}).Admit(request.InTurn); err != nil {
			t.Error(err)
		}
		if got := strings.Join(steps, ", "); got != c.want || !slices.Equal(switches.Ineffective(all), c.ineffective) {
			t.Errorf("%+v: %s, without effect %q", c, got, switches.Ineffective(all))
		}
	}
	namespaces := admission.PluginConfig{Enabled: []string{"NamespaceExists"}, Disabled: []string{"NamespaceLifecycle", "LimitRanger"}}
	if got := namespaces.AlwaysEffective(); !slices.Equal(got, []string{"NamespaceLifecycle"}) || len(namespaces.Ineffective(all)) > 0 {
		t.Errorf("always effective: %q, without effect: %q", got, namespaces.Ineffective(all))
	}
	if names := admission.Names(); len(names) != 40 || !slices.IsSorted(names) {
		t.Errorf("%d names: %q", len(names), names)
	}
	if names := admission.Defaults(); len(names) != 25 || slices.Contains(names, "NodeRestriction") || !slices.Contains(names, "PodSecurity") {
		t.Errorf("%d defaults: %q", len(names), names)
	}
}

func TestProvision(t *testing.T) {
	var asked []string
	all := []admission.Registration{{Name: "NamespaceAutoProvision", Provision: func(_ context.Context, _ *schema.Kind, key meta.Key) error {
		asked = append(asked, key.Namespace)
		return nil
	}}}
	chain := admission.New(meta.Platform, admission.PluginConfig{Enabled: []string{"NamespaceAutoProvision"}}, all)
	for _, m := range []request.Mutation{
		{Change: request.Create{}, Key: meta.Key{Namespace: "a"}}, {Change: request.Apply{}, Key: meta.Key{Namespace: "b"}},
		{Change: request.Create{}, DryRun: true, Key: meta.Key{Namespace: "c"}}, {Change: request.Patch{Type: request.MergePatch}, Key: meta.Key{Namespace: "d"}},
		{Change: request.Update{}, Key: meta.Key{Namespace: "e"}}, {Change: request.Delete{}, Key: meta.Key{Namespace: "f"}},
	} {
		if err := chain.Provision(t.Context(), &m); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(asked, []string{"a", "b"}) {
		t.Errorf("asked for %q", asked)
	}
	if err := admission.New(meta.Platform, admission.PluginConfig{}, all).Provision(t.Context(), &request.Mutation{Change: request.Create{}}); err != nil || len(asked) != 2 {
		t.Errorf("switched off: %v, %q", err, asked)
	}
	if err := (*admission.Chain)(nil).Provision(t.Context(), &request.Mutation{Change: request.Create{}}); err != nil {
		t.Errorf("no chain: %v", err)
	}
}
