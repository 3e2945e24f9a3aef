package catalog

import (
	pathpkg "path"
	"slices"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func persistentVolumeRules() schema.Rules {
	return schema.Rules{
		Default: func(obj schema.Tree) {
			setIfEmpty(rules.EnsureNested(obj, "status"), "phase", "Pending")
			spec := rules.EnsureNested(obj, "spec")
			setIfEmpty(spec, "persistentVolumeReclaimPolicy", "Retain")
			setIfEmpty(spec, "volumeMode", "Filesystem")
		},
		Prepare: preparePersistentVolume,
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			spec := rules.Nested(obj, "spec")
			validateCapacity(spec, "spec.capacity", faults)
			validateVolumeAffinity(spec, "spec.nodeAffinity", faults)
			validateVolumeSpec(spec, "spec", faults)
			validateISCSIName(rules.Nested(spec, "iscsi"), rules.String(rules.Nested(obj, "metadata"), "name"), "metadata.name", faults)
			validateFormat(spec, "storageClassName", "spec", faults, rules.Subdomain)
			if rules.String(spec, "persistentVolumeReclaimPolicy") == "Recycle" && pathpkg.Clean(rules.String(rules.Nested(spec, "hostPath"), "path")) == "/" {
				faults.Forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
			}
		},
		ValidateUpdate: validatePersistentVolumeUpdate,
		Warn: func(obj, _ schema.Tree) []string {
			if rules.String(rules.Nested(obj, "spec"), "persistentVolumeReclaimPolicy") != "Recycle" {
				return nil
			}
			return []string{"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."}
		},
	}
}

// preparePersistentVolume starts a volume as Pending, from the moment of its creation.
func preparePersistentVolume(obj, old schema.Tree) {
	if old != nil {
		rules.CopyField(obj, old, "status")
		return
	}
	status := schema.Tree{"phase": "Pending"}
	if created := rules.String(rules.Nested(obj, "metadata"), "creationTimestamp"); created != "" {
		status["lastPhaseTransitionTime"] = created
	}
	obj["status"] = status
}

// writeVolumeStatus changes the status and notes when the phase changed.
func writeVolumeStatus(obj, body schema.Tree, now string, _ *schema.Faults) error {
	was, status := rules.Nested(obj, "status"), rules.EnsureNested(body, "status")
	const since = "lastPhaseTransitionTime"
	if rules.String(status, "phase") != rules.String(was, "phase") && (!rules.Has(status, since) || status[since] == was[since]) {
		status[since] = now
	}
	obj["status"] = status
	return nil
}

// validateCapacity wants an amount of storage, and of nothing else.
func validateCapacity(spec schema.Tree, path string, faults *schema.Faults) {
	capacity := rules.Nested(spec, "capacity")
	if len(capacity) == 0 {
		faults.Required(path)
	}
	if !rules.Has(capacity, "storage") || len(capacity) > 1 {
		faults.NotSupported(path, capacity, []string{"storage"})
	}
	for _, key := range rules.Keys(capacity) {
		q, at := rules.String(capacity, key), rules.KeyPath(path, key)
		if quantity.Compare(q, "0") < 0 {
			faults.Invalid(at, q, "must be a valid resource quantity")
		}
		if quantity.Compare(q, "0") <= 0 {
			faults.Invalid(at, q, "must be greater than zero")
		}
	}
}

// validateVolumeAffinity checks the nodes that can reach a volume.
func validateVolumeAffinity(spec schema.Tree, path string, faults *schema.Faults) {
	affinity := rules.Nested(spec, "nodeAffinity")
	if affinity == nil {
		if rules.Nested(spec, "local") != nil {
			faults.Required(path, "Local volume requires node affinity")
		}
		return
	}
	must := rules.Nested(affinity, "required")
	if must == nil {
		faults.Required(path+".required", "must specify required node constraints")
		return
	}
	validateNodeSelector(must, path+".required", faults)
}

// validateNodeSelector checks a selector of nodes, which has at least one term.
func validateNodeSelector(s schema.Tree, path string, faults *schema.Faults) {
	path += ".nodeSelectorTerms"
	terms := rules.Trees(s, "nodeSelectorTerms")
	if len(terms) == 0 {
		faults.Required(path, "must have at least one node selector term")
	}
	for i, term := range terms {
		validateNodeTerm(term, rules.IndexPath(path, i), faults)
	}
}

// validateVolumeSpec checks what a volume has anywhere: access modes, a source, attributes.
func validateVolumeSpec(spec schema.Tree, path string, faults *schema.Faults) {
	validateAccessModes(spec, path+".accessModes", "", faults)
	validateVolumeSource(spec, path, faults)
	if class, ok := spec["volumeAttributesClassName"].(string); ok {
		at := path + ".volumeAttributesClassName"
		if class == "" {
			faults.Required(at, "an empty string is disallowed")
		}
		validateFormat(spec, "volumeAttributesClassName", path, faults, rules.Subdomain)
		if rules.Nested(spec, "csi") == nil {
			faults.Required(path+".csi", "has to be specified when using volumeAttributesClassName")
		}
	}
}

// validateAccessModes wants at least one mode, and ReadWriteOncePod alone. detail follows
// the fault of none.
func validateAccessModes(spec schema.Tree, path, detail string, faults *schema.Faults) {
	modes := rules.Strings(spec, "accessModes")
	if len(modes) == 0 {
		faults.Required(path, detail)
	}
	const exclusive = "ReadWriteOncePod"
	other := func(mode string) bool { return mode != exclusive }
	if slices.Contains(modes, exclusive) && slices.ContainsFunc(modes, other) {
		faults.Forbidden(path, "may not use ReadWriteOncePod with other access modes")
	}
}

// validateInlineVolume checks the volume that an attachment holds itself: it is only a
// source of kind csi.
func validateInlineVolume(spec schema.Tree, path string, faults *schema.Faults) {
	const not = "may not be specified in the context of inline volumes"
	for _, name := range []string{"claimRef", "capacity", "nodeAffinity", "storageClassName"} {
		if !rules.Empty(spec[name]) {
			faults.Forbidden(path+"."+name, not)
		}
	}
	if rules.Nested(spec, "csi") == nil {
		faults.Required(path+".csi", "has to be specified in the context of inline volumes")
	}
	if policy := rules.String(spec, "persistentVolumeReclaimPolicy"); policy != "" && policy != "Retain" {
		faults.Forbidden(path+".persistentVolumeReclaimPolicy", "may only be Retain in the context of inline volumes")
	}
	if mode := rules.String(spec, "volumeMode"); mode != "" && mode != "Filesystem" {
		faults.Forbidden(path+".volumeMode", "may not specify volumeMode other than Filesystem in the context of inline volumes")
	}
	validateVolumeSpec(spec, path, faults)
}

// validatePersistentVolumeUpdate keeps source, mode and, once it is set, affinity. A
// secret for growing may be added.
func validatePersistentVolumeUpdate(obj, old schema.Tree, faults *schema.Faults) {
	spec, was := rules.Nested(obj, "spec"), rules.Nested(old, "spec")
	for _, name := range volumeSources {
		now, before := rules.Nested(spec, name), rules.Nested(was, name)
		if name == "csi" && now != nil && before != nil && !rules.Has(before, "controllerExpandSecretRef") {
			now = rules.Clone(now).(schema.Tree)
			delete(now, "controllerExpandSecretRef")
		}
		if (now == nil) != (before == nil) || !rules.SemanticEqual(now, before) {
			faults.Forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")
			break
		}
	}
	if !rules.SemanticEqual(spec["volumeMode"], was["volumeMode"]) {
		faults.Invalid("volumeMode", spec["volumeMode"], "field is immutable")
	}
	if rules.Has(was, "nodeAffinity") && !rules.SemanticEqual(spec["nodeAffinity"], was["nodeAffinity"]) {
		faults.Invalid("nodeAffinity", spec["nodeAffinity"], "field is immutable, except for updating from beta label to GA")
	}
	if rules.Has(was, "volumeAttributesClassName") && !rules.Has(spec, "volumeAttributesClassName") {
		faults.Forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden")
	}
}
