package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

// TestPlugins tests plugins that need only the change.
func TestPlugins(t *testing.T) {
	chain := newChain(t, storedObjects{}, plugins.StorageObjectInUseProtection(meta.Platform), plugins.TaintNodesByCondition(meta.Platform), plugins.DenyServiceExternalIPs())
	ips := func(list string) string { return `{"spec":{"externalIPs":[` + list + `]}}` }
	const denied = "Use of external IPs is denied by admission control"
	for _, test := range []admissionTest{
		{name: "a claim is protected", resource: "/persistentvolumeclaims", new: `{"metadata":{}}`,
			want: `{"metadata":{"finalizers":["platform.io/pvc-protection"]}}`},
		{name: "beside other finalizers", resource: "/persistentvolumes", new: `{"metadata":{"finalizers":["a.b/c"]}}`,
			want: `{"metadata":{"finalizers":["a.b/c","platform.io/pv-protection"]}}`},
		{name: "once", resource: "/persistentvolumes", new: `{"metadata":{"finalizers":["platform.io/pv-protection"]}}`},
		{name: "only when it is new", resource: "/persistentvolumes", old: `{}`, new: `{"metadata":{}}`},
		{name: "a class of attributes", resource: "storage.platform.io/volumeattributesclasses", new: `{"metadata":{}}`,
			want: `{"metadata":{"finalizers":["platform.io/vac-protection"]}}`},
		{name: "a node is tainted", resource: "/nodes", new: `{"spec":{"taints":[{"effect":"NoExecute","key":"node.platform.io/not-ready"}]}}`,
			want: `{"spec":{"taints":[{"effect":"NoExecute","key":"node.platform.io/not-ready"},{"effect":"NoSchedule","key":"node.platform.io/not-ready"}]}}`},
		{name: "a node that is already", resource: "/nodes", new: `{"spec":{"taints":[{"effect":"NoSchedule","key":"node.platform.io/not-ready"}]}}`},

		{name: "no external address", resource: "/services", new: `{"spec":{}}`},
		{name: "a new one", resource: "/services", new: ips(`"1.2.3.4"`), fault: denied},
		{name: "a new one later", resource: "/services", old: `{}`, new: ips(`"1.2.3.4"`), fault: denied},
		{name: "another one", resource: "/services", old: ips(`"1.2.3.4"`), new: ips(`"1.2.3.4","1.2.3.5"`), fault: denied},
		{name: "those that there were", resource: "/services", old: ips(`"1.2.3.4","1.2.3.5"`), new: ips(`"1.2.3.5"`)},
		{name: "of a status", resource: "/services/status", old: `{}`, new: ips(`"1.2.3.4"`)},
	} {
		test.run(t, chain)
	}
}

func TestAlwaysDeny(t *testing.T) {
	chain := newChain(t, storedObjects{}, plugins.AlwaysDeny())
	for _, resource := range []string{"/pods", "/pods/exec", "example.com/things"} {
		for _, c := range [][2]string{{"", "{}"}, {"{}", "{}"}, {"{}", ""}} {
			admissionTest{name: resource, resource: resource, old: c[0], new: c[1], fault: "admission control is denying all modifications"}.run(t, chain)
		}
	}
}

// TestNoPlugins tests that there is no Admission for unregistered or disabled plugins.
func TestNoPlugins(t *testing.T) {
	c := admission.New(meta.Platform, admission.PluginConfig{Disabled: []string{"TaintNodesByCondition"}}, []admission.Registration{
		plugins.TaintNodesByCondition(meta.Platform), plugins.StorageObjectInUseProtection(meta.Platform), plugins.AlwaysDeny(),
	})
	for _, resource := range []string{"configmaps", "nodes"} {
		if a := c.For(nil, kind("", resource), "", ""); a != nil {
			t.Errorf("%s: %v has a say", resource, a)
		}
	}
	if a := c.For(nil, kind("", "persistentvolumes"), "status", ""); a != nil {
		t.Errorf("a sub-resource: %v has a say", a)
	}
	if a := (*admission.Chain)(nil).For(nil, kind("", "nodes"), "", ""); a != nil {
		t.Errorf("no chain: %v has a say", a)
	}
}
