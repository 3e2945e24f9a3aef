package storage

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/core/volume"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The bounds of the parameters of a class. They bound what a provisioner is handed with each claim.
const (
	maxParameters     = 512
	maxParametersSize = 256 << 10 // keys and values, in bytes
)

// The fields by which volumes are made cannot change: a class of the same name would mean other volumes before and
// after.
type storageClassStrategy struct {
	family.AlwaysWarns
	labels warning.NodeLabels
}

func (storageClassStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	validateParameters(obj.Object("parameters"), faults)
	validateAllowedTopologies(obj, "allowedTopologies", faults)
}

func (storageClassStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	validateImmutableFields(obj, old, faults, "parameters", "provisioner", "reclaimPolicy")
}

// The same holds for the attributes of volumes that exist.
type volumeAttributesClassStrategy struct{ schema.DefaultStrategy }

func (volumeAttributesClassStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	validateParameters(obj.Object("parameters"), faults)
}

func (volumeAttributesClassStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	validateImmutableFields(obj, old, faults, "driverName", "parameters")
}

// validateImmutableFields reports the named fields of a class that changed. Semantic equality lets an
// absent map become an empty one.
func validateImmutableFields(obj, old tree.Tree, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if !tree.SemanticEqual(obj[name], old[name]) {
			faults.Forbidden(name, "updates to "+name+" are forbidden.")
		}
	}
}

// The server does not know the parameters of any driver, so it bounds only how much they are.
func validateParameters(parameters tree.Tree, faults *schema.Faults) {
	if len(parameters) > maxParameters {
		faults.TooLong("parameters", maxParameters)
		return
	}
	size := 0
	for key := range parameters {
		if key == "" {
			faults.Invalid("parameters", key, "field can not be empty.")
		}
		size += len(key) + len(parameters.String(key))
	}
	if size > maxParametersSize {
		faults.TooLong("parameters", maxParametersSize)
	}
}

// validateAllowedTopologies checks the topology terms, which must be distinct. One that is empty counts as written twice,
// as in the public API.
//
// Two equal terms are one choice written twice, whatever the order of their values, which is why they are compared
// sorted.
func validateAllowedTopologies(t tree.Tree, path string, faults *schema.Faults) {
	var earlier []map[string][]string
	for i, term := range t.Objects(path) {
		at := tree.IndexPath(path, i) + ".matchLabelExpressions"
		values := validateTopology(term, at, faults)
		isTwice := func(other map[string][]string) bool { return maps.EqualFunc(values, other, slices.Equal) }
		if len(values) == 0 || slices.ContainsFunc(earlier, isTwice) {
			faults.Duplicate(at, "")
		}
		earlier = append(earlier, values)
	}
}

// validateTopology checks one term, whose expressions are at path, and returns its sorted values by key.
func validateTopology(term tree.Tree, path string, faults *schema.Faults) map[string][]string {
	byKey := map[string][]string{}
	for i, e := range term.Objects("matchLabelExpressions") {
		at, key, values := tree.IndexPath(path, i), e.String("key"), e.Strings("values")
		if len(values) == 0 {
			faults.Required(at + ".values")
		}
		seen := map[string]bool{}
		for j, value := range values {
			if seen[value] {
				faults.Duplicate(tree.IndexPath(at+".values", j), value)
			}
			seen[value] = true
		}
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
		if _, twice := byKey[key]; twice {
			faults.Duplicate(at+".key", key)
		}
		byKey[key] = slices.Sorted(maps.Keys(seen))
	}
	return byKey
}

// A new one has no status: a user could otherwise claim that a volume is attached.
type volumeAttachmentStrategy struct {
	schema.DefaultStrategy
	family.KeepStatus
}

// The metadata in the status comes from a driver and is handed to the node, so it has the same bound as parameters.
func (volumeAttachmentStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec, status := obj.Object("spec"), obj.Object("status")
	node := spec.String("nodeName")
	for _, msg := range rules.Subdomain(node) {
		faults.Invalid("spec.nodeName", node, msg)
	}
	validateAttachmentSource(spec.Object("source"), faults)
	size := 0
	for key, value := range status.Object("attachmentMetadata") {
		text, _ := value.(string)
		size += len(key) + len(text)
	}
	if size > maxParametersSize {
		faults.TooLong("status.attachmentMetadata", maxParametersSize)
	}
}

// validateAttachmentSource requires either the name of a volume or an inline volume.
//
// The inline form is for volumes that have no object of their own, because they were part of a Pod before drivers
// existed.
func validateAttachmentSource(source tree.Tree, faults *schema.Faults) {
	const path, one = "spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	inline := source.Object("inlineVolumeSpec")
	name, named := source["persistentVolumeName"].(string)
	switch {
	case inline == nil && !named:
		faults.Required(path, one)
	case inline != nil && named:
		faults.Forbidden(path, one)
	case named && name == "":
		faults.Required(path+".persistentVolumeName", "must specify non empty persistentVolumeName")
	case inline != nil:
		volume.ValidateInlineVolume(inline, path+".inlineVolumeSpec", faults)
	}
}
