package node

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

// admitNode lets a node write its own Node, except for fields such as taints and certain labels. By
// setting them, a compromised node could attract Pods and read their Secrets.
func (r *restriction) admitNode(a nodeAttributes) error {
	if a.Key.Name != a.node {
		return a.forbiddenf("node %q is not allowed to modify node %q", a.node, a.Key.Name)
	}
	if a.New == nil {
		return nil
	}
	forbidden := r.labels.forbiddenChanges(a.Old.Labels(), a.New.Labels())
	was, source := a.Old.Object("spec"), a.New.Object("spec")["configSource"]
	if a.Old == nil {
		switch {
		case source != nil:
			return a.forbiddenf("node %q is not allowed to create pods with a non-nil configSource", a.node)
		case len(forbidden) > 0:
			return a.forbiddenf("node %q is not allowed to set the following labels: %s", a.node, strings.Join(forbidden, ", "))
		}
		return nil
	}
	switch {
	case source != nil && !tree.SemanticEqual(source, was["configSource"]):
		return a.forbiddenf("node %q is not allowed to update configSource to a new non-nil configSource", a.node)
	case !tree.SemanticEqual(was["taints"], a.New.Object("spec")["taints"]):
		return a.forbiddenf("node %q is not allowed to modify taints", a.node)
	case !tree.SemanticEqual(a.Old.Object("metadata")["ownerReferences"], a.New.Object("metadata")["ownerReferences"]):
		return a.forbiddenf("node %q is not allowed to modify ownerReferences", a.node)
	case len(forbidden) > 0:
		return a.forbiddenf("is not allowed to modify labels: %s", strings.Join(forbidden, ", "))
	}
	return nil
}

type nodeLabelPolicy struct {
	vendorDomains    []string
	restrictedDomain string // domain of labels that are always forbidden
	allowedLabels    []string
	allowedDomains   []string
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

func (r *nodeLabelPolicy) forbiddenChanges(before, after tree.Tree) (labels []string) {
	for _, key := range unionKeys(before, after) {
		if before[key] != after[key] && r.forbids(key) {
			labels = append(labels, key)
		}
	}
	return labels
}

// forbids reports whether a node must not set a label. In the vendor's domains, a node may set only
// the listed labels. Labels below node-restriction are always forbidden, so that operators can
// trust them.
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

func isSubdomainOf(domain, other string) bool {
	return domain == other || strings.HasSuffix(domain, "."+other)
}

// admitCSR checks CSRs for node certificates. The subject of such a CSR must be the requesting
// node. Otherwise a lenient approver might issue a certificate for another node.
func (r *restriction) admitCSR(a nodeAttributes) error {
	if a.Old != nil || !r.signers[a.New.Object("spec").String("signerName")] {
		return nil
	}
	subject, err := plugins.RequestedSubject(a.New)
	if err != nil {
		return a.forbiddenf("unable to parse csr: %v", err)
	}
	if subject.CommonName != a.User.Name {
		return a.forbiddenf("can only create a node CSR with CN=%s", a.User.Name)
	}
	return nil
}
