package volume

import (
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// persistentVolumeClaimStrategy keeps the status when a client writes the main resource, because
// the controllers that bind and resize claims own the status.
type persistentVolumeClaimStrategy struct {
	schema.AlwaysWarns
	spec      *schema.Declaration
	snapshots string // snapshot group
	class     string // the deprecated annotation
}

func (s persistentVolumeClaimStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"phase": "Pending"}
	} else {
		obj.CopyField(old, "status")
	}
	prepareDataSources(obj.EnsureObject("spec"), old.Object("spec"), s.snapshots)
}

// prepareDataSources copies dataSource to dataSourceRef, or the reverse, if only one of them is
// set.
//
// It drops a new dataSource that is neither a claim nor a snapshot, as clients expect. It also
// drops a new dataSourceRef to another namespace, because no controller checks the required grants.
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

// isSupportedDataSource reports whether a source is a claim to clone or a snapshot to restore.
// Other sources need dataSourceRef and a populator.
func isSupportedDataSource(source tree.Tree, snapshots string) bool {
	group, kind := source.String("apiGroup"), source.String("kind")
	return group == "" && kind == "PersistentVolumeClaim" || group == snapshots && kind == "VolumeSnapshot"
}

func copyDataSource(t tree.Tree) tree.Tree {
	c := tree.Tree{}
	for _, name := range []string{"apiGroup", "kind", "name"} {
		c.CopyField(t, name)
	}
	return c
}

// ValidateUpdate makes most of the spec immutable. The volume name may be set once. A bound claim
// may request more storage or another attributes class. The storage class, which determines the
// backend, may only move from the annotation to the field.
func (s persistentVolumeClaimStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	m, class := s.spec.Message(), s.class
	spec, was := obj.Object("spec"), old.Object("spec")
	now, before := obj.Annotations().String(class), old.Annotations().String(class)
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

// restoreMutableClaimFields returns a copy of the new spec in which mutable fields have their old
// values. The storage request is mutable only for a bound claim, because a provisioner may be
// processing an unbound claim. If classable is set, a missing storage class may be added.
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

// validateStorageShrink allows a smaller request only if it exceeds the capacity, so that a failed
// expansion can be retried with a smaller size. No driver can shrink volumes.
func validateStorageShrink(spec, old tree.Tree, faults *schema.Faults) {
	now := spec.Object("resources", "requests").String("storage")
	before := old.Object("spec", "resources", "requests").String("storage")
	have := old.Object("status", "capacity").String("storage")
	if quantity.Compare(now, before) < 0 && quantity.Compare(now, have) <= 0 {
		faults.Forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
	}
}

// validateAttributesClass rejects the removal of an attributes class that is in effect, because the
// volume would keep its attributes. A class that never took effect may be removed.
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
