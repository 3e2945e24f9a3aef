package pod

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podImmutableMsg has the words of kube-apiserver, which follows it with a diff. Here the paths of the
// changed fields follow, because a diff would show values of the object.
const podImmutableMsg = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodUpdate allows only a few fields of the spec to change. It checks those one by one, puts
// back their old values in a copy, and requires the copy to equal the old spec.
//
// Putting old values back is the safe direction: a field that is added to the kind later is immutable until it is
// named here. A spec that is the same tree in memory has not changed, which is the case for most writes.
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

// restoreMutablePodFields returns the new spec with the old values of the fields that may change. Images
// may change because a node can restart a single container; all else is fixed when the Pod starts. The copy
// is compared and dropped.
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

// hasSchedulingGates reports whether a Pod is held back from scheduling.
func hasSchedulingGates(spec tree.Tree) bool { return len(spec.List("schedulingGates")) > 0 }

const nodeAffinityRequired = "requiredDuringSchedulingIgnoredDuringExecution"

// restoreNodeAffinity puts back the node selector and node affinity of a Pod with scheduling gates. A pod
// affinity stays in the copy and is compared, as it may not change even then. If both sides have none, an
// empty object must not appear on one.
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

// validateGatedAffinity allows the node selector and node affinity of a Pod with scheduling gates
// only to become stricter.
//
// Whoever holds a Pod back may confine it further, as a queue does. Were it allowed to widen the choice, it could go
// around what the author asked for.
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

// isNarrowerTerm reports whether a term begins with all requirements of the old one. An empty term matches
// no node, and must stay empty. Requirements within a term are joined by AND, so each one added narrows it;
// terms are joined by OR, so none may be added.
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

// A deadline may come nearer but not go away: others may rely on the end of the Pod.
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

// validateAddedTolerations checks that every old toleration is still there; only tolerationSeconds may
// differ. Adding one is safe: it only lets the Pod stay where it is.
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

// A gate that is added later could come after a scheduler has decided.
func validateSchedulingGates(spec, was tree.Tree, faults *schema.Faults) {
	before := was.Objects("schedulingGates")
	for i, gate := range spec.Objects("schedulingGates") {
		name := gate.String("name")
		if !slices.ContainsFunc(before, func(g tree.Tree) bool { return g.String("name") == name }) {
			faults.Forbidden(tree.IndexPath("spec.schedulingGates", i), "only deletion is allowed, but found new scheduling gate '"+name+"'")
		}
	}
}
