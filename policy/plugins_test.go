package policy_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/plugins"
	"github.com/troupe-api/troupe/policy/authz"
)

// A pluginGroup is a group of cases in testdata/plugins with the same plugins and objects.
type pluginGroup struct {
	Name       string
	Plugins    []string
	Kubernetes bool // use the Kubernetes naming profile
	Config     object
	Objects    map[string]object
	Cases      []pluginCase
}

// A pluginCase is a write to the object ns/o by user jane.
type pluginCase struct {
	Name, Resource string // the resource is "group/resource[/sub-resource]"; "" means "/pods"
	Old, New, Want object // Want is the expected New, if it changes
	Reinvocation   bool
	Unhandled      bool     // no plugin handles the change
	May            []string // jane's permissions: "verb group/resource/sub-resource namespace/name"
	Fault          string   // the reason of the rejection
	Node           string   // the user is a service account on this node
}

func TestPlugins(t *testing.T) {
	files, err := filepath.Glob("testdata/plugins/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		for _, g := range readCases[[]pluginGroup](t, "plugins/"+strings.TrimSuffix(filepath.Base(file), ".yaml")) {
			for _, c := range g.Cases {
				t.Run(g.Name+": "+c.Name, func(t *testing.T) { c.run(t, g.chain(t, c.May)) })
			}
		}
	}
}

// chain returns the admission chain of a group. The user jane is authorized only for the requests
// listed in may.
func (g pluginGroup) chain(t *testing.T, may []string) *admission.Chain {
	t.Helper()
	naming, c, config := meta.Platform, newCluster(t, g.Objects), parseTree(t, string(g.Config))
	if g.Kubernetes {
		naming = meta.Kubernetes
	}
	authorizer := authorizerFunc(func(a authz.Attributes) (authz.Decision, string) {
		if slices.Contains(may, a.Verb+" "+a.Group+"/"+a.Resource+"/"+a.Subresource+" "+a.Namespace+"/"+a.Name) {
			return authz.Allow, ""
		}
		return authz.NoOpinion, "no role"
	})
	selectors, err := plugins.ParsePodNodeSelectorConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	storage, placements := plugins.NewStorageClasses(naming), plugins.NewNamespacePlacements(naming, c)
	return newChain(t, c, naming, admission.PluginConfig{Only: g.Plugins}, append(plugins.ServiceAccount(naming, c, true),
		plugins.AlwaysDeny(), plugins.AlwaysPullImages(), plugins.CertificateApproval(authorizer, naming), plugins.CertificateRequester(),
		plugins.CertificateSigning(authorizer, naming), plugins.CertificateSubjectRestriction(naming), plugins.ClaimStatus(authorizer, naming), plugins.ClusterTrustBundleAttest(authorizer, naming),
		plugins.DefaultIngressClass(naming, plugins.NewIngressClasses(naming)), plugins.DefaultStorageClass(naming, storage),
		plugins.DefaultTolerationSeconds(naming, 10, 20), plugins.DenyServiceExternalIPs(), plugins.ExtendedResourceToleration(naming),
		plugins.LimitPodHardAntiAffinityTopology(naming), plugins.LimitRanger(naming), plugins.NodeDeclaredFeatureValidator(c), plugins.OwnerReferencesPermissionEnforcement(authorizer, ownerKind),
		plugins.PersistentVolumeClaimResize(naming, storage), plugins.PodNodeSelector(selectors, placements),
		plugins.PodResizeValidator(naming, c), plugins.PodTolerationRestriction(naming, config, placements), plugins.PodTopologyLabels(naming, c), plugins.Priority(), plugins.RuntimeClass(c),
		plugins.SecurityContextDeny(), plugins.StorageObjectInUseProtection(naming), plugins.TaintNodesByCondition(naming))...)
}

func ownerKind(gvk meta.GroupVersionKind) (k *schema.Kind) {
	switch gvk {
	case meta.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}:
		k = kind("apps", "replicasets")
		k.Namespaced = true
	case meta.GroupVersionKind{Version: "v1", Kind: "Node"}:
		k = kind("", "nodes")
	}
	return k
}

func (c pluginCase) run(t *testing.T, chain *admission.Chain) {
	t.Helper()
	old, wanted := parseTree(t, string(c.Old)), parseTree(t, string(c.New))
	share(wanted, old)
	if c.Resource == "" {
		c.Resource = "/pods"
	}
	a := newAttributes(t, chain, c.Resource, old, wanted, request.Mutation{})
	a.Reinvocation = c.Reinvocation
	if c.Node != "" {
		a.User = &request.User{Name: "system:serviceaccount:ns:sa", Extra: map[string][]string{"authentication.platform.io/node-name": {c.Node}}}
	}
	if (a.Mutation.Admission == nil) != c.Unhandled {
		t.Errorf("plugins %v", a.Mutation.Admission)
	}
	err, reason := admit(a), ""
	if err != nil {
		_, reason, _ = strings.Cut(err.Error(), " is forbidden: ")
	}
	if reason != c.Fault || err != nil && reason == "" {
		t.Errorf("%v, want %q", err, c.Fault)
	}
	if c.Want == nil {
		c.Want = c.New
	}
	if got, want := canonical(wanted), canonical(parseTree(t, string(c.Want))); err == nil && got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := canonical(old); got != canonical(parseTree(t, string(c.Old))) {
		t.Errorf("the old state became %s", got)
	}
}

// share replaces values in wanted with equal values from old, because updates share unchanged
// values with the old object.
func share(wanted, old tree.Tree) {
	for name := range wanted {
		if name != "metadata" {
			wanted[name] = sharingPlugins(wanted[name], old[name])
		}
	}
}

func sharingPlugins(v, old any) any {
	if tree.StrictEqual(v, old) {
		return old
	}
	switch v := v.(type) {
	case tree.Tree:
		old, _ := old.(tree.Tree)
		for name := range v {
			v[name] = sharingPlugins(v[name], old[name])
		}
	case []any:
		old, _ := old.([]any)
		for i := range min(len(v), len(old)) {
			v[i] = sharingPlugins(v[i], old[i])
		}
	}
	return v
}

func newAttributes(t *testing.T, chain *admission.Chain, resource string, old, wanted tree.Tree, m request.Mutation) *request.Attributes {
	t.Helper()
	parts := append(strings.SplitN(resource, "/", 3), "")
	m.Kind, m.Subresource, m.Key = kind(parts[0], parts[1]), parts[2], meta.Key{Namespace: "ns", Name: "o"}
	m.Admission = chain.For(jane, m.Kind, m.Subresource, m.Key.Namespace)
	return request.NewAttributes(t.Context(), &m, old, wanted)
}

func admit(a *request.Attributes) error {
	for _, stage := range []request.Stage{request.InTurn, request.MayBlock} {
		if stage == request.MayBlock && !a.Waits() {
			continue
		}
		for _, step := range []func(request.Stage) error{a.Admit, a.Validate} {
			if err := step(stage); err != nil {
				return err
			}
		}
	}
	_, err := a.AdmitLast()
	return err
}

func newChain(t testing.TB, c *fakeCluster, naming *meta.Naming, switches admission.PluginConfig, all ...admission.Registration) *admission.Chain {
	t.Helper()
	chain := admission.New(naming, switches, all)
	for _, follower := range chain.Caches() {
		if err := follower.Follow(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return chain
}

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
}

func TestPluginConfigFaults(t *testing.T) {
	checkFaults(t, "admission/podnodeselector", func(text string) error {
		_, err := plugins.ParsePodNodeSelectorConfig(parseTree(t, text))
		return err
	})
	checkFaults(t, "admission/podtolerationrestriction", func(text string) error {
		_, err := decodeConfig(t, meta.Platform, "PodTolerationRestriction", "{apiVersion: podtolerationrestriction.admission.platform.io/v1alpha1, kind: Configuration, "+text+"}")
		return err
	})
}
