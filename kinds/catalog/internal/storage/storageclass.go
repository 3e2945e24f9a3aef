package storage

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/core/volume"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The bounds of the parameters of a class.
const (
	maxParameters     = 512
	maxParametersSize = 256 << 10 // keys and values, in bytes
)

func storageClassRules() schema.Rules {
	return schema.Rules{
		Validate: func(obj tree.Tree, faults *schema.Faults) {
			provisioner := obj.String("provisioner")
			if provisioner != "" {
				for _, msg := range rules.QualifiedName(strings.ToLower(provisioner)) {
					faults.Invalid("provisioner", provisioner, msg)
				}
			}
			validateParameters(obj.Object("parameters"), faults)
			validateAllowedTopologies(obj, "allowedTopologies", faults)
		},
		ValidateUpdate: func(obj, old tree.Tree, faults *schema.Faults) {
			validateImmutableFields(obj, old, faults, "parameters", "provisioner", "reclaimPolicy")
		},
	}
}

func volumeAttributesClassRules() schema.Rules {
	return schema.Rules{
		Validate: func(obj tree.Tree, faults *schema.Faults) {
			volume.ValidateDriverName(obj, "driverName", "", faults)
			parameters := obj.Object("parameters")
			if len(parameters) == 0 {
				faults.Required("parameters", "must contain at least one key/value pair")
			}
			validateParameters(parameters, faults)
		},
		ValidateUpdate: func(obj, old tree.Tree, faults *schema.Faults) {
			validateImmutableFields(obj, old, faults, "driverName", "parameters")
		},
	}
}

// validateImmutableFields reports the named fields of a class that changed.
func validateImmutableFields(obj, old tree.Tree, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if !tree.SemanticEqual(obj[name], old[name]) {
			faults.Forbidden(name, "updates to "+name+" are forbidden.")
		}
	}
}

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

// validateAllowedTopologies checks the topology terms, which must be distinct.
func validateAllowedTopologies(t tree.Tree, path string, faults *schema.Faults) {
	var earlier []map[string][]string
	for i, term := range t.Objects(path) {
		values := validateTopology(term, path, faults)
		for _, other := range earlier {
			if maps.EqualFunc(values, other, slices.Equal) {
				faults.Duplicate(tree.IndexPath(path, i)+".matchLabelExpressions", "")
			}
		}
		earlier = append(earlier, values)
	}
}

// validateTopology checks one term and returns its sorted values by key. The paths of its faults have
// no index of the term, as clients expect.
func validateTopology(term tree.Tree, path string, faults *schema.Faults) map[string][]string {
	byKey := map[string][]string{}
	for i, e := range term.Objects("matchLabelExpressions") {
		at, key, values := tree.IndexPath(path+".matchLabelExpressions", i), e.String("key"), e.Strings("values")
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

func volumeAttachmentRules() schema.Rules {
	return schema.Rules{
		Prepare:  family.KeepStatus,
		Validate: validateAttachment,
		ValidateUpdate: func(obj, old tree.Tree, faults *schema.Faults) {
			if !tree.SemanticEqual(obj["spec"], old["spec"]) {
				faults.Invalid("spec", obj["spec"], "field is immutable")
			}
		},
	}
}

func validateAttachment(obj tree.Tree, faults *schema.Faults) {
	spec, status := obj.Object("spec"), obj.Object("status")
	volume.ValidateDriverName(spec, "attacher", "spec", faults)
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
	for _, name := range []string{"attachError", "detachError"} {
		fault, at := status.Object(name), "status."+name
		if len(fault.String("message")) > maxVolumeError {
			faults.TooLong(at+".message", maxVolumeError)
		}
		field.NonNegative(fault, at, faults, "errorCode")
	}
}

// maxVolumeError bounds the message of a failed attach or detach, in bytes.
const maxVolumeError = 1024

// validateAttachmentSource requires either the name of a volume or an inline volume.
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
