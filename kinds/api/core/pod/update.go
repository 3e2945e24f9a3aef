package pod

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podImmutableMsg is the message of kube-apiserver, which appends a diff. Here, paths of changed
// fields follow, because a diff would show values of the object.
const podImmutableMsg = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodUpdate allows only a few fields of the spec to change. It checks those, restores their
// old values in a copy, and requires the copy to equal the old spec. So fields that are added to
// the kind later are immutable by default. Specs that share memory are not compared.
func validatePodUpdate(m *schema.Message, obj, old tree.Tree, faults *schema.Faults) {
	spec, was := obj.Object("spec"), old.Object("spec")
	if tree.SameRef(spec, was) {
		return
	}
	same := true
	for _, list := range []string{"containers", "initContainers"} {
		if len(spec.List(list)) != len(was.List(list)) {
			faults.Forbidden("spec."+list, "pod updates may not add or remove containers")
			same = false
		}
	}
	if !same {
		return
	}
	validateActiveDeadlineUpdate(spec, was, faults)
	validateAddedTolerations(spec, was, faults)
	validateSchedulingGates(spec, was, faults)
	if hasSchedulingGates(was) {
		validateGatedAffinity(spec, was, faults)
	}
	if restored := restoreMutablePodFields(spec, was); !m.Same(restored, was) {
		faults.Forbidden("spec", podImmutableMsg+m.Changes(was, restored, "spec"))
	}
}

// restoreMutablePodFields returns a copy of the new spec with the old values of mutable fields, for
// comparison.
func restoreMutablePodFields(spec, was tree.Tree) tree.Tree {
	c, _ := tree.Clone(spec).(tree.Tree)
	if c == nil {
		c = tree.Tree{}
	}
	for _, list := range []string{"containers", "initContainers"} {
		before := was.Objects(list)
		for i, container := range c.Objects(list) {
			if container != nil {
				container.CopyField(before[i], "image")
			}
		}
	}
	names := []string{"activeDeadlineSeconds", "tolerations", "schedulingGates"}
	if grace, _ := was.Int("terminationGracePeriodSeconds"); grace < 0 {
		if now, _ := spec.Int("terminationGracePeriodSeconds"); now == 1 {
			names = append(names, "terminationGracePeriodSeconds")
		}
	}
	if hasSchedulingGates(was) {
		names = append(names, "nodeSelector")
		restoreNodeAffinity(c, was)
	}
	for _, name := range names {
		c.CopyField(was, name)
	}
	return c
}

func hasSchedulingGates(spec tree.Tree) bool { return len(spec.List("schedulingGates")) > 0 }

const nodeAffinityRequired = "requiredDuringSchedulingIgnoredDuringExecution"

// restoreNodeAffinity restores the node selector and node affinity of a gated Pod. A pod affinity
// stays and is compared, since it is immutable. If both sides have no affinity, none is added.
func restoreNodeAffinity(spec, was tree.Tree) {
	before := was.Object("affinity")
	if spec.Object("affinity") == nil && before == nil {
		return
	}
	affinity := spec.EnsureObject("affinity")
	affinity.CopyField(before, "nodeAffinity")
	if before == nil && len(affinity) == 0 {
		delete(spec, "affinity")
	}
}

// validateGatedAffinity allows node selector and node affinity of a gated Pod only to become
// stricter, as a queue may do. Widening them could violate the intent of the author.
func validateGatedAffinity(spec, was tree.Tree, faults *schema.Faults) {
	now := spec.Object("nodeSelector")
	for key, value := range was.Object("nodeSelector") {
		if now[key] != value {
			faults.Invalid("spec.nodeSelector", now, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
			break
		}
	}
	const path = "spec.affinity.nodeAffinity." + nodeAffinityRequired
	must := spec.Object("affinity", "nodeAffinity", nodeAffinityRequired)
	before := was.Object("affinity", "nodeAffinity", nodeAffinityRequired).Objects("nodeSelectorTerms")
	terms := must.Objects("nodeSelectorTerms")
	switch {
	case len(before) == 0:
	case len(terms) != len(before):
		faults.Invalid(path+".nodeSelectorTerms", must.List("nodeSelectorTerms"), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
	default:
		for i := range terms {
			if !isNarrowerTerm(terms[i], before[i]) {
				faults.Invalid(tree.IndexPath(path+".nodeSelectorTerms", i), terms[i], "only additions are allowed (no mutations or deletions)")
			}
		}
	}
}

// isNarrowerTerm reports whether a term starts with all requirements of the old one. An empty term
// matches no node and must stay empty. Requirements of a term are ANDed, so additions narrow it;
// terms are ORed, so none may be added.
func isNarrowerTerm(term, was tree.Tree) bool {
	if tree.IsEmpty(was["matchExpressions"]) && tree.IsEmpty(was["matchFields"]) {
		return tree.IsEmpty(term["matchExpressions"]) && tree.IsEmpty(term["matchFields"])
	}
	for _, name := range []string{"matchExpressions", "matchFields"} {
		now, before := term.List(name), was.List(name)
		if len(now) < len(before) || !slices.EqualFunc(now[:len(before)], before, tree.SemanticEqual) {
			return false
		}
	}
	return true
}

// validateActiveDeadlineUpdate allows an earlier deadline, but no removal: others may rely on the
// end of the Pod.
func validateActiveDeadlineUpdate(spec, was tree.Tree, faults *schema.Faults) {
	const path = "spec.activeDeadlineSeconds"
	before, had := was.Int("activeDeadlineSeconds")
	now, has := spec.Int("activeDeadlineSeconds")
	switch {
	case had && !has:
		faults.Invalid(path, nil, "must not update from a positive integer to nil value")
	case had && now > before:
		faults.Invalid(path, now, "must be less than or equal to previous value")
	}
}

// validateAddedTolerations requires every old toleration; only tolerationSeconds may differ.
// Additions are safe: they only let the Pod stay.
func validateAddedTolerations(spec, was tree.Tree, faults *schema.Faults) {
	for _, before := range was.Objects("tolerations") {
		kept := slices.ContainsFunc(spec.Objects("tolerations"), func(now tree.Tree) bool {
			for _, name := range []string{"key", "operator", "value", "effect"} {
				if now.String(name) != before.String(name) {
					return false
				}
			}
			return true
		})
		if !kept {
			faults.Forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
}

// validateSchedulingGates rejects new gates, which could come after the scheduler's decision.
func validateSchedulingGates(spec, was tree.Tree, faults *schema.Faults) {
	before := was.Objects("schedulingGates")
	for i, gate := range spec.Objects("schedulingGates") {
		name := gate.String("name")
		if !slices.ContainsFunc(before, func(g tree.Tree) bool { return g.String("name") == name }) {
			faults.Forbidden(tree.IndexPath("spec.schedulingGates", i), "only deletion is allowed, but found new scheduling gate '"+name+"'")
		}
	}
}
