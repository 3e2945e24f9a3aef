package pod

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podImmutableMsg is kube-apiserver's error message. kube-apiserver appends a diff. This server
// appends the paths of changed fields instead, because a diff would reveal field values.
const podImmutableMsg = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// ValidateUpdate rejects spec changes except in a few fields with their own rules. It restores
// these fields in a copy and compares the copy with the old spec. New fields are therefore
// immutable by default.
func (s podStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	spec, was, m := obj.Object("spec"), old.Object("spec"), s.spec.Message()
	if tree.SameRef(spec, was) || len(spec.List("containers")) != len(was.List("containers")) || len(spec.List("initContainers")) != len(was.List("initContainers")) {
		return
	}
	if restored := restoreMutablePodFields(spec, was); !m.Same(restored, was) {
		faults.Forbidden("spec", podImmutableMsg+m.Changes(was, restored, "spec"))
	}
}

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
	if len(was.List("schedulingGates")) > 0 {
		names = append(names, "nodeSelector")
		restoreNodeAffinity(c, was)
	}
	for _, name := range names {
		c.CopyField(was, name)
	}
	return c
}

// restoreNodeAffinity copies the old node affinity to spec, so that a comparison of the specs
// ignores it. Node affinity may change while a Pod has scheduling gates, but Pod affinity is
// immutable.
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
