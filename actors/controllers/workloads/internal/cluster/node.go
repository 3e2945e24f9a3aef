package cluster

import (
	"errors"
	"log/slog"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Node is a cached view of a Node object. It omits most of the status, which changes constantly.
type Node struct {
	reconcile.Head
	Taints      []Taint
	Unscheduled bool // spec.unschedulable
	Allocatable Resources

	unschedulableTaint string // its key
}

type Taint = reconcile.Taint

func nodeView(k reconcile.Client, naming *meta.Naming, logger *slog.Logger) func(*meta.Object) *Node {
	unschedulable := naming.Translate("node.platform.io/unschedulable")
	return func(o *meta.Object) *Node {
		n := &Node{Head: reconcile.NewHead(o), unschedulableTaint: unschedulable}
		t, err := k.Decode(o)
		if err != nil {
			logger.Error("cannot decode a node, so it gets no Pods", "node", n.Key.Name, "error", err)
			return n
		}
		var resources resourceReader
		n.Unscheduled, n.Allocatable = t.Object("spec").Bool("unschedulable"), resources.read(t.Object("status", "allocatable"))
		if err := errors.Join(resources.errs...); err != nil {
			logger.Error("cannot parse allocatable resources of a node, so they count as 0", "node", n.Key.Name, "error", err)
		}
		for _, taint := range t.Object("spec").Objects("taints") {
			n.Taints = append(n.Taints, reconcile.ReadTaint(taint))
		}
		return n
	}
}

// SamePlacement reports whether the same Pods may run on two versions of a node.
func (n *Node) SamePlacement(other *Node) bool {
	return slices.Equal(n.Labels, other.Labels) && slices.Equal(n.Taints, other.Taints)
}

// Matches reports whether a node matches a Pod's nodeSelector and at least one term of its required
// node affinity.
func (n *Node) Matches(podSpec tree.Tree) bool {
	selector := podSpec.Object("nodeSelector")
	for key := range selector {
		if v, ok := n.Labels.Get(key); !ok || v != selector.String(key) {
			return false
		}
	}
	required := podSpec.Object("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	return required == nil || n.MatchesTerms(required.Objects("nodeSelectorTerms"))
}

// MatchesTerms reports whether a node matches at least one of the node selector terms.
func (n *Node) MatchesTerms(terms []tree.Tree) bool { return slices.ContainsFunc(terms, n.matchesTerm) }

// matchesTerm reports whether a node matches a node selector term. An empty term matches no node.
func (n *Node) matchesTerm(term tree.Tree) bool {
	labels, fields := term.Objects("matchExpressions"), term.Objects("matchFields")
	for _, r := range labels {
		v, ok := n.Labels.Get(r.String("key"))
		if !matches(r, v, ok) {
			return false
		}
	}
	for _, r := range fields {
		if !matches(r, n.Key.Name, r.String("key") == "metadata.name") {
			return false
		}
	}
	return len(labels)+len(fields) > 0
}

// matches reports whether a label value meets a requirement. has is false if the label is missing,
// which meets NotIn and DoesNotExist. Gt and Lt require integers.
func matches(requirement tree.Tree, value string, has bool) bool {
	values := requirement.Strings("values")
	switch requirement.String("operator") {
	case "In":
		return has && slices.Contains(values, value)
	case "NotIn":
		return !has || !slices.Contains(values, value)
	case "Exists":
		return has
	case "DoesNotExist":
		return !has
	case "Gt", "Lt":
		n, err := strconv.ParseInt(value, 10, 64)
		if !has || err != nil || len(values) != 1 {
			return false
		}
		bound, err := strconv.ParseInt(values[0], 10, 64)
		return err == nil && (requirement.String("operator") == "Gt" && n > bound || requirement.String("operator") == "Lt" && n < bound)
	}
	return false
}

// Tolerated reports whether tolerations cover all of a node's taints with the given effects.
func (n *Node) Tolerated(tolerations []tree.Tree, effects ...string) bool {
	for _, taint := range n.Taints {
		if slices.Contains(effects, taint.Effect) && !slices.ContainsFunc(tolerations, taint.ToleratedBy) {
			return false
		}
	}
	return true
}

// ToleratesUnschedulable reports whether tolerations cover the unschedulable taint, even if the
// node does not have it yet.
func (n *Node) ToleratesUnschedulable(tolerations []tree.Tree) bool {
	return slices.ContainsFunc(tolerations, Taint{Key: n.unschedulableTaint, Effect: "NoSchedule"}.ToleratedBy)
}
