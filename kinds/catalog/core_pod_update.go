package catalog

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

const podImmutableMsg = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodUpdate lets only a few fields of the spec change: it judges those one by
// one, puts back their old values in a copy, and wants the rest equal.
func validatePodUpdate(obj, old schema.Tree, faults *schema.Faults) {
	spec, was := rules.Nested(obj, "spec"), rules.Nested(old, "spec")
	if schema.SameRef(spec, was) {
		return
	}
	same := true
	for _, list := range []string{"containers", "initContainers"} {
		if len(rules.Items(spec, list)) != len(rules.Items(was, list)) {
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
	if !rules.SemanticEqual(restoreMutablePodFields(spec, was), was) {
		faults.Forbidden("spec", podImmutableMsg)
	}
}

// restoreMutablePodFields is the new spec with the old values of what may change.
func restoreMutablePodFields(spec, was schema.Tree) schema.Tree {
	c, _ := rules.Clone(spec).(schema.Tree)
	if c == nil {
		c = schema.Tree{}
	}
	for _, list := range []string{"containers", "initContainers"} {
		before := rules.Trees(was, list)
		for i, container := range rules.Trees(c, list) {
			if container != nil {
				rules.CopyField(container, before[i], "image")
			}
		}
	}
	names := []string{"activeDeadlineSeconds", "tolerations", "schedulingGates"}
	if grace, _ := rules.Int(was, "terminationGracePeriodSeconds"); grace < 0 {
		if now, _ := rules.Int(spec, "terminationGracePeriodSeconds"); now == 1 {
			names = append(names, "terminationGracePeriodSeconds")
		}
	}
	if hasSchedulingGates(was) {
		names = append(names, "nodeSelector")
		restoreNodeAffinity(c, was)
	}
	for _, name := range names {
		rules.CopyField(c, was, name)
	}
	return c
}

// hasSchedulingGates tells whether a Pod waits before anyone looks for its node.
func hasSchedulingGates(spec schema.Tree) bool { return len(rules.Items(spec, "schedulingGates")) > 0 }

const nodeAffinityRequired = "requiredDuringSchedulingIgnoredDuringExecution"

// restoreNodeAffinity puts back the wish for nodes that a Pod behind a gate had.
func restoreNodeAffinity(spec, was schema.Tree) {
	before := rules.Nested(was, "affinity")
	if rules.Nested(spec, "affinity") == nil && before == nil {
		return
	}
	affinity := rules.EnsureNested(spec, "affinity")
	rules.CopyField(affinity, before, "nodeAffinity")
}

// validateGatedAffinity lets what a Pod behind a gate asks of its node only become narrower.
func validateGatedAffinity(spec, was schema.Tree, faults *schema.Faults) {
	now := rules.Nested(spec, "nodeSelector")
	for key, value := range rules.Nested(was, "nodeSelector") {
		if now[key] != value {
			faults.Invalid("spec.nodeSelector", now, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
			break
		}
	}
	const path = "spec.affinity.nodeAffinity." + nodeAffinityRequired
	must := rules.Nested(spec, "affinity", "nodeAffinity", nodeAffinityRequired)
	before := rules.Trees(rules.Nested(was, "affinity", "nodeAffinity", nodeAffinityRequired), "nodeSelectorTerms")
	terms := rules.Trees(must, "nodeSelectorTerms")
	switch {
	case len(before) == 0:
	case len(terms) != len(before):
		faults.Invalid(path+".nodeSelectorTerms", rules.Items(must, "nodeSelectorTerms"), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
	default:
		for i := range terms {
			if !isNarrowerTerm(terms[i], before[i]) {
				faults.Invalid(rules.IndexPath(path+".nodeSelectorTerms", i), terms[i], "only additions are allowed (no mutations or deletions)")
			}
		}
	}
}

// isNarrowerTerm tells whether a term still asks first for all that it asked for before. A term
// that asked for nothing matched no node, and must stay so.
func isNarrowerTerm(term, was schema.Tree) bool {
	if rules.Empty(was["matchExpressions"]) && rules.Empty(was["matchFields"]) {
		return rules.Empty(term["matchExpressions"]) && rules.Empty(term["matchFields"])
	}
	for _, name := range []string{"matchExpressions", "matchFields"} {
		now, before := rules.Items(term, name), rules.Items(was, name)
		if len(now) < len(before) || !slices.EqualFunc(now[:len(before)], before, rules.SemanticEqual) {
			return false
		}
	}
	return true
}

func validateActiveDeadlineUpdate(spec, was schema.Tree, faults *schema.Faults) {
	const path = "spec.activeDeadlineSeconds"
	before, had := rules.Int(was, "activeDeadlineSeconds")
	now, has := rules.Int(spec, "activeDeadlineSeconds")
	switch {
	case had && !has:
		faults.Invalid(path, nil, "must not update from a positive integer to nil value")
	case had && now > before:
		faults.Invalid(path, now, "must be less than or equal to previous value")
	}
}

// validateAddedTolerations wants each old toleration still there; only its time may differ.
func validateAddedTolerations(spec, was schema.Tree, faults *schema.Faults) {
	for _, before := range rules.Trees(was, "tolerations") {
		kept := slices.ContainsFunc(rules.Trees(spec, "tolerations"), func(now schema.Tree) bool {
			for _, name := range []string{"key", "operator", "value", "effect"} {
				if rules.String(now, name) != rules.String(before, name) {
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

func validateSchedulingGates(spec, was schema.Tree, faults *schema.Faults) {
	before := rules.Trees(was, "schedulingGates")
	for i, gate := range rules.Trees(spec, "schedulingGates") {
		name := rules.String(gate, "name")
		if !slices.ContainsFunc(before, func(g schema.Tree) bool { return rules.String(g, "name") == name }) {
			faults.Forbidden(rules.IndexPath("spec.schedulingGates", i), "only deletion is allowed, but found new scheduling gate '"+name+"'")
		}
	}
}
