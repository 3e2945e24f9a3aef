package volume

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// persistentVolumeClaimStrategy has the rules of claims that clients and StatefulSets create. The
// status belongs to the binder and to the resizer, so writes of the main resource keep it.
type persistentVolumeClaimStrategy struct {
	family.AlwaysWarns
	spec      *schema.Message
	snapshots string // the group
	class     string // the deprecated annotation
}

func (persistentVolumeClaimStrategy) Default(obj tree.Tree) {
	field.SetIfEmpty(obj.EnsureObject("status"), "phase", "Pending")
}

func (s persistentVolumeClaimStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"phase": "Pending"}
	} else {
		obj.CopyField(old, "status")
	}
	prepareDataSources(obj.EnsureObject("spec"), old.Object("spec"), s.snapshots)
}

// prepareDataSources drops unsupported sources and keeps dataSource and dataSourceRef equal: whichever is
// set is copied to the other. dataSource may name claims and snapshots only, and dataSourceRef no other
// namespace, except where the claim had a source before. dataSource came first and silently ignored what it
// did not support, and clients rely on that; dataSourceRef reports it. A source in another namespace needs
// a grant that no built-in controller checks, so it is dropped rather than stored as if it would be
// honoured.
func prepareDataSources(spec, was tree.Tree, snapshots string) {
	inUse := was.Has("dataSource") || was.Has("dataSourceRef")
	source, ref := spec.Object("dataSource"), spec.Object("dataSourceRef")
	if ref != nil && ref.String("namespace") != "" && !inUse {
		delete(spec, "dataSourceRef")
		ref = nil
	}
	if source != nil && ref == nil && !inUse && !isSupportedDataSource(source, snapshots) {
		delete(spec, "dataSource")
		source = nil
	}
	switch {
	case source != nil && ref == nil:
		spec["dataSourceRef"] = copyDataSource(source)
	case ref != nil && source == nil && ref.String("namespace") == "":
		spec["dataSource"] = copyDataSource(ref)
	}
}

// isSupportedDataSource knows claims, which are cloned, and snapshots, which are restored; anything else
// needs a populator and goes into dataSourceRef.
func isSupportedDataSource(source tree.Tree, snapshots string) bool {
	group, kind := source.String("apiGroup"), source.String("kind")
	return group == "" && kind == "PersistentVolumeClaim" || group == snapshots && kind == "VolumeSnapshot"
}

// copyDataSource returns a data source for the other of the two fields. The namespace is left out:
// dataSource has no such field.
func copyDataSource(t tree.Tree) tree.Tree {
	c := tree.Tree{}
	for _, name := range []string{"apiGroup", "kind", "name"} {
		c.CopyField(t, name)
	}
	return c
}

// ValidateUpdate keeps the spec, except for the volume that a claim is bound to, and for what a
// bound claim may ask for: more storage and another attributes class. class is the annotation that
// named the storage class before there was a field for it. A storage class chooses the backend at
// provisioning and cannot change it afterwards. Moving the class from the annotation to the field,
// with the same name, is no change.
func (s persistentVolumeClaimStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	m, class := s.spec, s.class
	spec, was := obj.Object("spec"), old.Object("spec")
	now, before := obj.Object("metadata", "annotations").String(class), old.Object("metadata", "annotations").String(class)
	moved := before != "" && !was.Has("storageClassName") && spec.String("storageClassName") == before
	if now != before && !moved {
		faults.Invalid(tree.KeyPath("metadata.annotations", class), now, "field is immutable")
	}
	bound := old.Object("status").String("phase") == "Bound"
	if restored := restoreMutableClaimFields(spec, was, bound, moved || before == ""); !m.Same(restored, was) {
		faults.Forbidden("spec", "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"+
			m.Changes(was, restored, "spec"))
	}
	validateStorageShrink(spec, old, faults)
	if !m.Field("volumeMode").Same(spec["volumeMode"], was["volumeMode"]) {
		faults.Invalid("volumeMode", spec["volumeMode"], "field is immutable")
	}
	validateAttributesClass(spec, old, faults)
}

// restoreMutableClaimFields returns the new spec with the old values of the fields that may change.
// classable says that a claim without a storage class may get one. If the result equals the old spec, only
// mutable fields have changed. The copy is needed because the new spec is stored as the client sent it. An
// unbound claim may not change its request, since a provisioner may be at work on it.
func restoreMutableClaimFields(spec, was tree.Tree, bound, classable bool) tree.Tree {
	c, _ := tree.Clone(spec).(tree.Tree)
	if c == nil {
		c = tree.Tree{}
	}
	if was.String("volumeName") == "" {
		delete(c, "volumeName")
	}
	if classable && !was.Has("storageClassName") {
		delete(c, "storageClassName")
	}
	if bound {
		if requests := c.Object("resources", "requests"); requests != nil {
			requests.CopyField(was.Object("resources", "requests"), "storage")
		}
		c.CopyField(was, "volumeAttributesClassName")
	}
	return c
}

// validateStorageShrink allows a smaller request only if it is still more than the capacity, so that a
// failed expansion can be retried with less. Shrinking below what exists would lose data, which no driver
// offers.
func validateStorageShrink(spec, old tree.Tree, faults *schema.Faults) {
	now := spec.Object("resources", "requests").String("storage")
	before := old.Object("spec", "resources", "requests").String("storage")
	have := old.Object("status", "capacity").String("storage")
	if quantity.Compare(now, before) < 0 && quantity.Compare(now, have) <= 0 {
		faults.Forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
	}
}

// validateAttributesClass refuses to remove an attributes class that is in effect. The volume has those
// attributes and would keep them, with nothing left to say so. A class that never took effect may be
// withdrawn.
func validateAttributesClass(spec, old tree.Tree, faults *schema.Faults) {
	const path, current = "spec.volumeAttributesClassName", "currentVolumeAttributesClassName"
	if old.Object("spec").String("volumeAttributesClassName") == "" || !old.Object("status").Has(current) {
		return
	}
	switch class, ok := spec["volumeAttributesClassName"].(string); {
	case !ok:
		faults.Forbidden(path, "update to nil is forbidden when status."+current+" is not nil")
	case class == "":
		faults.Forbidden(path, "update to an empty string is forbidden when status."+current+" is not nil")
	}
}
