package volume

import (
	pathpkg "path"
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/scheduling"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// persistentVolumeStrategy retains by default: of an administrator's volume nothing may be erased
// unasked. Volumes that a provisioner creates get the policy of their storage class from it.
type persistentVolumeStrategy struct {
	family.AlwaysWarns
	spec           *schema.Message
	labels         warning.NodeLabels
	class, options string // deprecated annotations
}

func (persistentVolumeStrategy) Default(obj tree.Tree) {
	field.SetIfEmpty(obj.EnsureObject("status"), "phase", "Pending")
	spec := obj.EnsureObject("spec")
	field.SetIfEmpty(spec, "persistentVolumeReclaimPolicy", "Retain")
	field.SetIfAbsent(spec, "volumeMode", "Filesystem")
}

func (persistentVolumeStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	validateCapacity(spec, "spec.capacity", faults)
	validateVolumeAffinity(spec, "spec.nodeAffinity", faults)
	validateVolumeSpec(spec, "spec", faults)
	ValidateISCSIName(spec.Object("iscsi"), obj.Object("metadata").String("name"), "metadata.name", faults)
	// Recycling is an "rm -rf" by a Pod; of the root it would erase the node.
	if spec.String("persistentVolumeReclaimPolicy") == "Recycle" && pathpkg.Clean(spec.Object("hostPath").String("path")) == "/" {
		faults.Forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
	}
}

// Prepare sets the status of a new volume to Pending, since its creation. The controller that binds
// moves it on to Available; a status that a client sends with a create may be that of a volume in
// another cluster.
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

// writeVolumeStatus replaces the status and records when the phase changed. The time lets administrators
// find volumes that have been released for long; who leaves it out does not take it away. A writer that sends its own time keeps it, as when a
// volume is restored.
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

// validateCapacity requires a positive amount of storage, and no other resource. A negative amount gets
// both messages, which is what clients have always been told. The claim is matched by this amount, so a
// volume without it could never be bound.
func validateCapacity(spec tree.Tree, path string, faults *schema.Faults) {
	capacity := spec.Object("capacity")
	if len(capacity) == 0 {
		faults.Required(path)
	}
	if !capacity.Has("storage") || len(capacity) > 1 {
		faults.NotSupported(path, capacity, []string{"storage"})
	}
	for _, key := range capacity.SortedKeys() {
		q, at := capacity.String(key), tree.KeyPath(path, key)
		if quantity.Compare(q, "0") < 0 {
			faults.Invalid(at, q, "must be a valid resource quantity")
		}
		if quantity.Compare(q, "0") <= 0 {
			faults.Invalid(at, q, "must be greater than zero")
		}
	}
}

// validateVolumeAffinity checks the nodes that can reach a volume. A local disk is of one node; without the
// affinity the scheduler would place Pods where it does not exist. Other sources are reached from
// everywhere unless they say otherwise.
func validateVolumeAffinity(spec tree.Tree, path string, faults *schema.Faults) {
	affinity := spec.Object("nodeAffinity")
	if affinity == nil {
		if spec.Object("local") != nil {
			faults.Required(path, "Local volume requires node affinity")
		}
		return
	}
	if must := affinity.Object("required"); must != nil {
		scheduling.ValidateNodeSelector(must, path+".required", faults)
	}
}

// validateVolumeSpec checks what inline volumes and PersistentVolumes have in common: access modes, the
// source and the attributes class. Attributes classes are a concept of CSI: only a driver can apply one. A
// nil class means none, and "" has no meaning that would differ from it, so it is refused.
func validateVolumeSpec(spec tree.Tree, path string, faults *schema.Faults) {
	validateAccessModes(spec, path+".accessModes", faults)
	validateVolumeSource(spec, path, faults)
	if class, ok := spec["volumeAttributesClassName"].(string); ok {
		at := path + ".volumeAttributesClassName"
		if class == "" {
			faults.Required(at, "an empty string is disallowed")
		}
		if spec.Object("csi") == nil {
			faults.Required(path+".csi", "has to be specified when using volumeAttributesClassName")
		}
	}
}

// validateAccessModes refuses any other mode beside ReadWriteOncePod. The mode promises that one Pod alone
// has the volume, which no combination could keep.
func validateAccessModes(spec tree.Tree, path string, faults *schema.Faults) {
	modes := spec.Strings("accessModes")
	const exclusive = "ReadWriteOncePod"
	other := func(mode string) bool { return mode != exclusive }
	if slices.Contains(modes, exclusive) && slices.ContainsFunc(modes, other) {
		faults.Forbidden(path, "may not use ReadWriteOncePod with other access modes")
	}
}

// ValidateInlineVolume checks the volume in the spec of an attachment, which has a CSI source and little
// else. In-tree volumes inlined in a Pod are attached through CSI in this form, without a PersistentVolume
// to bind or to reclaim. So everything that belongs to the life of such an object is forbidden.
func ValidateInlineVolume(spec tree.Tree, path string, faults *schema.Faults) {
	const not = "may not be specified in the context of inline volumes"
	for _, name := range []string{"claimRef", "capacity", "nodeAffinity", "storageClassName"} {
		if !tree.IsEmpty(spec[name]) {
			faults.Forbidden(path+"."+name, not)
		}
	}
	if spec.Object("csi") == nil {
		faults.Required(path+".csi", "has to be specified in the context of inline volumes")
	}
	if policy := spec.String("persistentVolumeReclaimPolicy"); policy != "" && policy != "Retain" {
		faults.Forbidden(path+".persistentVolumeReclaimPolicy", "may only be Retain in the context of inline volumes")
	}
	if mode := spec.String("volumeMode"); mode != "" && mode != "Filesystem" {
		faults.Forbidden(path+".volumeMode", "may not specify volumeMode other than Filesystem in the context of inline volumes")
	}
	validateVolumeSpec(spec, path, faults)
}

// ValidateUpdate keeps the source, the volume mode and, once it is set, the node affinity. Only
// controllerExpandSecretRef may be added to a CSI source. Data is on that backend: with another one
// Pods would come back to a different disk. The secret may be added so that volumes from before
// expansion existed can grow. The odd paths are those that clients know.
func (s persistentVolumeStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	m := s.spec
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
	// The message mentions beta labels whose replacement is done; the only change allowed here is from none
	// to one.
	if was.Has("nodeAffinity") && !m.Field("nodeAffinity").Same(spec["nodeAffinity"], was["nodeAffinity"]) {
		faults.Invalid("nodeAffinity", spec["nodeAffinity"], "field is immutable, except for updating from beta label to GA")
	}
	if was.Has("volumeAttributesClassName") && !spec.Has("volumeAttributesClassName") {
		faults.Forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden")
	}
}
