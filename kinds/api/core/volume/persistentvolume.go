package volume

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type persistentVolumeStrategy struct {
	schema.AlwaysWarns
	spec *schema.Declaration
}

// Prepare sets the phase of a new volume to Pending. The status in a manifest may come from another
// cluster.
func (persistentVolumeStrategy) Prepare(obj, old tree.Tree) {
	if old != nil {
		obj.CopyField(old, "status")
		return
	}
	status := tree.Tree{"phase": "Pending"}
	if created := obj.Object("metadata").String("creationTimestamp"); created != "" {
		status["lastPhaseTransitionTime"] = created
	}
	obj["status"] = status
}

// writeVolumeStatus replaces the status and records when the phase changed, so that administrators
// can find volumes that were released long ago. It keeps the recorded time if the body has none. A
// new time in the body takes precedence, for example for a restored volume.
func writeVolumeStatus(obj, body tree.Tree, now string, _ *schema.Faults) error {
	was, status := obj.Object("status"), body.EnsureObject("status")
	const since = "lastPhaseTransitionTime"
	switch changed := status.String("phase") != was.String("phase"); {
	case changed && (!status.Has(since) || status[since] == was[since]):
		status[since] = now
	case !changed && !status.Has(since):
		status.CopyField(was, since)
	}
	obj["status"] = status
	return nil
}

// ValidateUpdate makes the source, the volume mode and, once set, the node affinity immutable.
// Otherwise Pods could get another disk. A CSI source accepts only an added
// controllerExpandSecretRef, so that old volumes can be expanded. Field paths match kube-apiserver.
func (s persistentVolumeStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	m := s.spec.Message()
	spec, was := obj.Object("spec"), old.Object("spec")
	for _, name := range volumeSources {
		now, before := spec.Object(name), was.Object(name)
		if name == "csi" && now != nil && before != nil && !before.Has("controllerExpandSecretRef") {
			now = tree.Clone(now).(tree.Tree)
			delete(now, "controllerExpandSecretRef")
		}
		if (now == nil) != (before == nil) || now != nil && !m.Field(name).Same(now, before) {
			faults.Forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"+
				m.Changes(tree.Tree{name: was[name]}, tree.Tree{name: spec[name]}, "spec"))
			break
		}
	}
	if !m.Field("volumeMode").Same(spec["volumeMode"], was["volumeMode"]) {
		faults.Invalid("volumeMode", spec["volumeMode"], "field is immutable")
	}
	// The message mentions beta labels, but the only change allowed here is to set a missing
	// affinity.
	if was.Has("nodeAffinity") && !m.Field("nodeAffinity").Same(spec["nodeAffinity"], was["nodeAffinity"]) {
		faults.Invalid("nodeAffinity", spec["nodeAffinity"], "field is immutable, except for updating from beta label to GA")
	}
	if was.Has("volumeAttributesClassName") && !spec.Has("volumeAttributesClassName") {
		faults.Forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden")
	}
}
