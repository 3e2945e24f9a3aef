package policy

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

func enable(names ...string) func(*daemon.Config) {
	return func(c *daemon.Config) { c.Admission.Enable = names }
}

func TestPluginTranscripts(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*daemon.Config)
		users  []string
	}{
		"admin-access":         {},
		"always-deny":          {change: enable("AlwaysDeny", "AlwaysAdmit")},
		"certificate-subjects": {},
		"claim-status":         {},
		"claims-grow":          {change: func(c *daemon.Config) { c.Controllers = client.KeepingControllers }}, // they do not write the status of claims
		"external-ips":         {change: enable("DenyServiceExternalIPs")},
		"node-restriction": {func(c *daemon.Config) {
			c.Admission.Enable, c.Admission.Disable = []string{"NodeRestriction"}, []string{"ServiceAccount"} // it would reject some requests first
		}, []string{"system:node:n1=system:nodes", "system:node:n2=system:nodes"}},
		"owner-references": {enable("OwnerReferencesPermissionEnforcement"), []string{"jane", "joe"}},
		"signer-rights":    {nil, []string{"jane", "joe"}},
		"storage-in-use":   {},
	} {
		t.Run(name, func(t *testing.T) {
			serveUsersInProfiles(t, test.change, test.users, func(c *userCluster) { c.replay("plugins/" + name) })
		})
	}
}

func TestPodPluginTranscripts(t *testing.T) {
	for name, change := range map[string]func(*daemon.Config){
		"binding": nil, "limit-ranger": nil, "priority": nil, "runtime-class": nil, "service-account": nil, "terminating-namespace": nil,
		"switched-on": enable("AlwaysPullImages", "ExtendedResourceToleration", "LimitPodHardAntiAffinityTopology", "PodNodeSelector",
			"PodTolerationRestriction", "SecurityContextDeny", "NamespaceAutoProvision", "NamespaceExists"),
		"switched-off": func(c *daemon.Config) {
			c.Admission.Disable = []string{"ServiceAccount", "Priority", "DefaultTolerationSeconds", "RuntimeClass", "LimitRanger", "PodTopologyLabels", "NamespaceLifecycle"}
		},
		"tolerations": func(c *daemon.Config) {
			c.Admission.DefaultNotReadyTolerationSeconds, c.Admission.DefaultUnreachableTolerationSeconds = 10, 20
		},
	} {
		t.Run(name, func(t *testing.T) {
			transcript.RunInProfiles(t, "testdata/podplugins/"+name+".txt", change, transcript.Options{})
		})
	}
}

func TestPolicyTranscripts(t *testing.T) {
	for _, name := range []string{"custom-kinds", "equivalent-versions", "mutated-scale", "operations", "own-kinds", "own-parameters", "reinvocation"} {
		t.Run(name, func(t *testing.T) {
			transcript.RunInProfiles(t, "testdata/policies/"+name+".txt", withMutatingPolicies, transcript.Options{})
		})
	}
}
