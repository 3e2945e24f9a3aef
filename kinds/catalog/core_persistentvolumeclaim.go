package catalog

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func persistentVolumeClaimRules(n *meta.Naming) schema.Rules {
	snapshots, class := n.Translate("snapshot.storage.platform.io"), n.Translate("volume.beta.platform.io/storage-class")
	return schema.Rules{
		Default: func(obj schema.Tree) { setIfEmpty(rules.EnsureNested(obj, "status"), "phase", "Pending") },
		Prepare: func(obj, old schema.Tree) {
			if old == nil {
				obj["status"] = schema.Tree{"phase": "Pending"}
			} else {
				rules.CopyField(obj, old, "status")
			}
			prepareDataSources(rules.EnsureNested(obj, "spec"), rules.Nested(old, "spec"), snapshots)
		},
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			validateClaimSpec(rules.Nested(obj, "spec"), "spec", faults)
			validateClaimStatus(rules.Nested(obj, "status"), "status", faults)
		},
		ValidateUpdate: func(obj, old schema.Tree, faults *schema.Faults) {
			validateClaimUpdate(obj, old, class, faults)
		},
	}
}

// prepareDataSources drops the sources that are not supported and makes each of the two
// fields say what the other says. dataSource knows claims and snapshots only;
// dataSourceRef stays in its namespace.
func prepareDataSources(spec, was schema.Tree, snapshots string) {
	inUse := rules.Has(was, "dataSource") || rules.Has(was, "dataSourceRef")
	source, ref := rules.Nested(spec, "dataSource"), rules.Nested(spec, "dataSourceRef")
	if ref != nil && rules.String(ref, "namespace") != "" && !inUse {
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
	case ref != nil && source == nil && rules.String(ref, "namespace") == "":
		spec["dataSource"] = copyDataSource(ref)
	}
}

func isSupportedDataSource(source schema.Tree, snapshots string) bool {
	group, kind := rules.String(source, "apiGroup"), rules.String(source, "kind")
	return group == "" && kind == "PersistentVolumeClaim" || group == snapshots && kind == "VolumeSnapshot"
}

// copyDataSource is a source as the other of the two fields holds it.
func copyDataSource(t schema.Tree) schema.Tree {
	c := schema.Tree{}
	for _, name := range []string{"apiGroup", "kind", "name"} {
		rules.CopyField(c, t, name)
	}
	return c
}

// validateClaimSpec checks a PersistentVolumeClaimSpec at path, of a claim or of a template.
func validateClaimSpec(spec schema.Tree, path string, faults *schema.Faults) {
	validateAccessModes(spec, path+".accessModes", "at least 1 access mode is required", faults)
	at := rules.KeyPath(path+".resources", "storage")
	switch q, ok := rules.Nested(spec, "resources", "requests")["storage"].(string); {
	case !ok:
		faults.Required(at)
	case quantity.Compare(q, "0") <= 0:
		faults.Invalid(at, q, "must be greater than zero")
	}
	validateLabelSelector(rules.Nested(spec, "selector"), path+".selector", faults)
	validateFormat(spec, "storageClassName", path, faults, rules.Subdomain)
	validateFormat(spec, "volumeAttributesClassName", path, faults, rules.Subdomain)
	validateDataSources(spec, path, faults)
}

func validateDataSources(spec schema.Tree, path string, faults *schema.Faults) {
	source, ref := rules.Nested(spec, "dataSource"), rules.Nested(spec, "dataSourceRef")
	validateDataSource(source, path+".dataSource", faults)
	validateDataSource(ref, path+".dataSourceRef", faults)
	validateFormat(ref, "namespace", path+".dataSourceRef", faults, rules.Label)
	switch {
	case source == nil || ref == nil:
	case rules.String(ref, "namespace") != "":
		faults.Invalid(path, source, "may not be specified when dataSourceRef.namespace is specified")
	case !rules.SemanticEqual(copyDataSource(source), copyDataSource(ref)):
		faults.Invalid(path, source, "must match dataSourceRef")
	}
}

// validateDataSource checks what a claim is filled from; nil is fine.
func validateDataSource(s schema.Tree, path string, faults *schema.Faults) {
	if s == nil {
		return
	}
	kind := rules.String(s, "kind")
	if rules.String(s, "apiGroup") == "" && kind != "PersistentVolumeClaim" {
		faults.Invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
	}
	validateFormat(s, "apiGroup", path, faults, rules.Subdomain)
}

// resizeStatuses are the states of growing a volume.
var resizeStatuses = []string{
	"ControllerResizeInfeasible", "ControllerResizeInProgress", "NodeResizeInfeasible", "NodeResizeInProgress", "NodeResizePending",
}

func validateClaimStatus(status schema.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"capacity", "allocatedResources"} {
		amounts := rules.Nested(status, name)
		for _, key := range rules.Keys(amounts) {
			if q := rules.String(amounts, key); quantity.Compare(q, "0") < 0 {
				faults.Invalid(rules.KeyPath(path+"."+name, key), q, "must be a valid resource quantity")
			}
		}
	}
	states := rules.Nested(status, "allocatedResourceStatuses")
	for _, key := range rules.Keys(states) {
		if state := rules.String(states, key); !slices.Contains(resizeStatuses, state) {
			faults.NotSupported(rules.KeyPath(path+".allocatedResourceStatuses", key), state, resizeStatuses)
		}
	}
}

// validateClaimUpdate keeps the spec, but for what a claim gets when it is bound and what
// a bound claim may ask for: more storage and another class of attributes. class is the
// annotation that once named the storage class.
func validateClaimUpdate(obj, old schema.Tree, class string, faults *schema.Faults) {
	spec, was := rules.Nested(obj, "spec"), rules.Nested(old, "spec")
	now, before := rules.String(rules.Nested(obj, "metadata", "annotations"), class), rules.String(rules.Nested(old, "metadata", "annotations"), class)
	moved := before != "" && !rules.Has(was, "storageClassName") && rules.String(spec, "storageClassName") == before
	if now != before && !moved {
		faults.Invalid(rules.KeyPath("metadata.annotations", class), now, "field is immutable")
	}
	bound := rules.String(rules.Nested(old, "status"), "phase") == "Bound"
	if !rules.SemanticEqual(restoreMutableClaimFields(spec, was, bound, moved || before == ""), was) {
		faults.Forbidden("spec", "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")
	}
	validateStorageShrink(spec, old, faults)
	if !rules.SemanticEqual(spec["volumeMode"], was["volumeMode"]) {
		faults.Invalid("volumeMode", spec["volumeMode"], "field is immutable")
	}
	validateAttributesClass(spec, old, faults)
}

// restoreMutableClaimFields is the new spec with the old values of what may change. classable says
// that a claim without a storage class may get one.
func restoreMutableClaimFields(spec, was schema.Tree, bound, classable bool) schema.Tree {
	c, _ := rules.Clone(spec).(schema.Tree)
	if c == nil {
		c = schema.Tree{}
	}
	if rules.String(was, "volumeName") == "" {
		delete(c, "volumeName")
	}
	if classable && !rules.Has(was, "storageClassName") {
		delete(c, "storageClassName")
	}
	if bound {
		if requests := rules.Nested(c, "resources", "requests"); requests != nil {
			rules.CopyField(requests, rules.Nested(was, "resources", "requests"), "storage")
		}
		rules.CopyField(c, was, "volumeAttributesClassName")
	}
	return c
}

// validateStorageShrink lets a claim ask for less than before only as long as that is more than
// there is: growing that failed can be taken back.
func validateStorageShrink(spec, old schema.Tree, faults *schema.Faults) {
	now := rules.String(rules.Nested(spec, "resources", "requests"), "storage")
	before := rules.String(rules.Nested(old, "spec", "resources", "requests"), "storage")
	have := rules.String(rules.Nested(old, "status", "capacity"), "storage")
	if quantity.Compare(now, before) < 0 && quantity.Compare(now, have) <= 0 {
		faults.Forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
	}
}

// validateAttributesClass keeps a class of attributes that is in effect from being taken away.
func validateAttributesClass(spec, old schema.Tree, faults *schema.Faults) {
	const path, current = "spec.volumeAttributesClassName", "currentVolumeAttributesClassName"
	if rules.String(rules.Nested(old, "spec"), "volumeAttributesClassName") == "" || !rules.Has(rules.Nested(old, "status"), current) {
		return
	}
	switch class, ok := spec["volumeAttributesClassName"].(string); {
	case !ok:
		faults.Forbidden(path, "update to nil is forbidden when status."+current+" is not nil")
	case class == "":
		faults.Forbidden(path, "update to an empty string is forbidden when status."+current+" is not nil")
	}
}
