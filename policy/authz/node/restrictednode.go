package node

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/policy/admission"
)

// ownNode: a node writes about itself, but not what others steer it by.
func (r *restriction) ownNode(a attempt) error {
	if a.Key.Name != a.node {
		return a.refuse("node %q is not allowed to modify node %q", a.node, a.Key.Name)
	}
	if a.New == nil {
		return nil
	}
	old, now := rules.Sub(a.Old, "metadata"), rules.Sub(a.New, "metadata")
	before, after := rules.Sub(old, "labels"), rules.Sub(now, "labels")
	var forbidden []string
	for _, key := range slices.Concat(rules.Keys(before), rules.Keys(after)) {
		if before[key] != after[key] && r.labels.forbid(key) && !slices.Contains(forbidden, key) {
			forbidden = append(forbidden, key)
		}
	}
	slices.Sort(forbidden)
	switch {
	case len(forbidden) > 0 && a.Old == nil:
		return a.refuse("node %q is not allowed to set the following labels: %s", a.node, strings.Join(forbidden, ", "))
	case len(forbidden) > 0:
		return a.refuse("is not allowed to modify labels: %s", strings.Join(forbidden, ", "))
	case a.Old == nil:
		return nil
	case !rules.Equal(rules.Sub(a.Old, "spec")["taints"], rules.Sub(a.New, "spec")["taints"]):
		return a.refuse("node %q is not allowed to modify taints", a.node)
	case !rules.Equal(old["ownerReferences"], now["ownerReferences"]):
		return a.refuse("node %q is not allowed to modify ownerReferences", a.node)
	}
	return nil
}

// labelRules say which labels a node may give itself.
type labelRules struct {
	domains  []string // of the vendor
	reserved string   // never a node's
	allowed  []string // labels
	open     []string // domains
}

func newLabelRules(naming *meta.Naming) *labelRules {
	r := &labelRules{reserved: naming.Name("node-restriction.platform.io")}
	r.domains = []string{naming.Name("platform.io"), strings.TrimPrefix(naming.Group("meta"), "meta.")}
	for _, name := range []string{
		"platform.io/hostname", "platform.io/os", "platform.io/arch", "beta.platform.io/os", "beta.platform.io/arch",
		"topology.platform.io/zone", "topology.platform.io/region", "failure-domain.beta.platform.io/zone", "failure-domain.beta.platform.io/region",
		"node.platform.io/instance-type", "beta.platform.io/instance-type",
	} {
		r.allowed = append(r.allowed, naming.Name(name))
	}
	for _, domain := range []string{"kubelet.platform.io/x", "node.platform.io/x"} {
		r.open = append(r.open, strings.TrimSuffix(naming.Name(domain), "/x"))
	}
	return r
}

// forbid tells that no node may write a label.
func (r *labelRules) forbid(label string) bool {
	domain, _, ok := strings.Cut(label, "/")
	if !ok {
		return false
	}
	if within(domain, r.reserved) {
		return true
	}
	vendors := slices.ContainsFunc(r.domains, func(d string) bool { return within(domain, d) })
	open := slices.ContainsFunc(r.open, func(d string) bool { return within(domain, d) })
	return vendors && !open && !slices.Contains(r.allowed, label)
}

// within tells that a domain is another one, or below it.
func within(domain, other string) bool {
	return domain == other || strings.HasSuffix(domain, "."+other)
}

// certificate: a node asks for no certificate of another node.
func (r *restriction) certificate(a attempt) error {
	if a.Old != nil || !r.signers[rules.Text(rules.Sub(a.New, "spec"), "signerName")] {
		return nil
	}
	subject, ok := admission.RequestedSubject(a.New)
	if ok && subject.CommonName != a.User.Name {
		return a.refuse("can only create a node CSR with CN=%s", a.User.Name)
	}
	return nil
}
