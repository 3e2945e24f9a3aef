package node

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// admitNode lets a node write its own Node, except for what others control it by, such as taints.
func (r *restriction) admitNode(a nodeAttributes) error {
	if a.Key.Name != a.node {
		return a.forbiddenf("node %q is not allowed to modify node %q", a.node, a.Key.Name)
	}
	if a.New == nil {
		return nil
	}
	old, now := a.Old.Object("metadata"), a.New.Object("metadata")
	before, after := old.Object("labels"), now.Object("labels")
	var forbidden []string
	for _, key := range slices.Concat(before.SortedKeys(), after.SortedKeys()) {
		if before[key] != after[key] && r.labels.forbids(key) && !slices.Contains(forbidden, key) {
			forbidden = append(forbidden, key)
		}
	}
	slices.Sort(forbidden)
	switch {
	case len(forbidden) > 0 && a.Old == nil:
		return a.forbiddenf("node %q is not allowed to set the following labels: %s", a.node, strings.Join(forbidden, ", "))
	case len(forbidden) > 0:
		return a.forbiddenf("is not allowed to modify labels: %s", strings.Join(forbidden, ", "))
	case a.Old == nil:
		return nil
	case !tree.SemanticEqual(a.Old.Object("spec")["taints"], a.New.Object("spec")["taints"]):
		return a.forbiddenf("node %q is not allowed to modify taints", a.node)
	case !tree.SemanticEqual(old["ownerReferences"], now["ownerReferences"]):
		return a.forbiddenf("node %q is not allowed to modify ownerReferences", a.node)
	}
	return nil
}

// nodeLabelPolicy say which labels a node may give itself.
type nodeLabelPolicy struct {
	vendorDomains    []string // of the vendor
	restrictedDomain string   // never a node's
	allowedLabels    []string // labels
	allowedDomains   []string // domains
}

func newNodeLabelPolicy(naming *meta.Naming) *nodeLabelPolicy {
	r := &nodeLabelPolicy{restrictedDomain: naming.Translate("node-restriction.platform.io")}
	r.vendorDomains = []string{naming.Translate("platform.io"), strings.TrimPrefix(naming.Group("meta"), "meta.")}
	for _, name := range []string{
		"platform.io/hostname", "platform.io/os", "platform.io/arch", "beta.platform.io/os", "beta.platform.io/arch",
		"topology.platform.io/zone", "topology.platform.io/region", "failure-domain.beta.platform.io/zone", "failure-domain.beta.platform.io/region",
		"node.platform.io/instance-type", "beta.platform.io/instance-type",
	} {
		r.allowedLabels = append(r.allowedLabels, naming.Translate(name))
	}
	for _, domain := range []string{"kubelet.platform.io/x", "node.platform.io/x"} {
		r.allowedDomains = append(r.allowedDomains, strings.TrimSuffix(naming.Translate(domain), "/x"))
	}
	return r
}

// forbids tells whether no node may write a label.
func (r *nodeLabelPolicy) forbids(label string) bool {
	domain, _, ok := strings.Cut(label, "/")
	if !ok {
		return false
	}
	if isSubdomainOf(domain, r.restrictedDomain) {
		return true
	}
	vendors := slices.ContainsFunc(r.vendorDomains, func(d string) bool { return isSubdomainOf(domain, d) })
	open := slices.ContainsFunc(r.allowedDomains, func(d string) bool { return isSubdomainOf(domain, d) })
	return vendors && !open && !slices.Contains(r.allowedLabels, label)
}

// isSubdomainOf tells whether a domain is another one, or below it.
func isSubdomainOf(domain, other string) bool {
	return domain == other || strings.HasSuffix(domain, "."+other)
}

// admitCSR lets a node request only certificates of its own.
func (r *restriction) admitCSR(a nodeAttributes) error {
	if a.Old != nil || !r.signers[a.New.Object("spec").String("signerName")] {
		return nil
	}
	subject, ok := admission.RequestedSubject(a.New)
	if ok && subject.CommonName != a.User.Name {
		return a.forbiddenf("can only create a node CSR with CN=%s", a.User.Name)
	}
	return nil
}
