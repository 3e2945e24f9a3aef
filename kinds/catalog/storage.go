package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// The bounds of the parameters of a class.
const (
	maxParameters     = 512
	maxParametersSize = 256 << 10 // keys and values, in bytes
)

func storageClassRules() schema.Rules {
	return schema.Rules{
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			provisioner := rules.Text(obj, "provisioner")
			if provisioner != "" {
				for _, msg := range rules.QualifiedName(strings.ToLower(provisioner)) {
					faults.Invalid("provisioner", provisioner, msg)
				}
			}
			validateParameters(rules.Sub(obj, "parameters"), faults)
			validateTopologies(obj, "allowedTopologies", faults)
		},
		ValidateUpdate: func(obj, old schema.Tree, faults *schema.Faults) {
			unchanged(obj, old, faults, "parameters", "provisioner", "reclaimPolicy")
		},
	}
}

func volumeAttributesClassRules() schema.Rules {
	return schema.Rules{
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			validateDriverName(obj, "driverName", "", faults)
			parameters := rules.Sub(obj, "parameters")
			if len(parameters) == 0 {
				faults.Required("parameters", "must contain at least one key/value pair")
			}
			validateParameters(parameters, faults)
		},
		ValidateUpdate: func(obj, old schema.Tree, faults *schema.Faults) {
			unchanged(obj, old, faults, "driverName", "parameters")
		},
	}
}

// unchanged wants the named fields of a class as they were.
func unchanged(obj, old schema.Tree, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if !rules.Equal(obj[name], old[name]) {
			faults.Forbidden(name, "updates to "+name+" are forbidden.")
		}
	}
}

func validateParameters(parameters schema.Tree, faults *schema.Faults) {
	if len(parameters) > maxParameters {
		faults.TooLong("parameters", maxParameters)
		return
	}
	size := 0
	for key := range parameters {
		if key == "" {
			faults.Invalid("parameters", key, "field can not be empty.")
		}
		size += len(key) + len(rules.Text(parameters, key))
	}
	if size > maxParametersSize {
		faults.TooLong("parameters", maxParametersSize)
	}
}

// validateTopologies checks the terms that say where volumes may be made: none twice.
func validateTopologies(t schema.Tree, path string, faults *schema.Faults) {
	var earlier []map[string][]string
	for i, term := range rules.Trees(t, path) {
		values := validateTopology(term, path, faults)
		for _, other := range earlier {
			if maps.EqualFunc(values, other, slices.Equal) {
				faults.Duplicate(rules.At(path, i)+".matchLabelExpressions", "")
			}
		}
		earlier = append(earlier, values)
	}
}

// validateTopology checks one term and gives the sorted values by key. The paths of its
// faults have no index of the term, as users know them.
func validateTopology(term schema.Tree, path string, faults *schema.Faults) map[string][]string {
	byKey := map[string][]string{}
	for i, e := range rules.Trees(term, "matchLabelExpressions") {
		at, key, values := rules.At(path+".matchLabelExpressions", i), rules.Text(e, "key"), rules.Texts(e, "values")
		if len(values) == 0 {
			faults.Required(at + ".values")
		}
		seen := map[string]bool{}
		for j, value := range values {
			if seen[value] {
				faults.Duplicate(rules.At(at+".values", j), value)
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
		Prepare:  prepareStatus,
		Validate: validateAttachment,
		ValidateUpdate: func(obj, old schema.Tree, faults *schema.Faults) {
			if !rules.Equal(obj["spec"], old["spec"]) {
				faults.Invalid("spec", obj["spec"], "field is immutable")
			}
		},
	}
}

// prepareStatus keeps status, which has a sub-resource, out of writes of the main resource.
func prepareStatus(obj, old schema.Tree) { rules.Carry(obj, old, "status") }

func validateAttachment(obj schema.Tree, faults *schema.Faults) {
	spec, status := rules.Sub(obj, "spec"), rules.Sub(obj, "status")
	validateDriverName(spec, "attacher", "spec", faults)
	node := rules.Text(spec, "nodeName")
	for _, msg := range rules.Subdomain(node) {
		faults.Invalid("spec.nodeName", node, msg)
	}
	validateAttached(rules.Sub(spec, "source"), faults)
	size := 0
	for key, value := range rules.Sub(status, "attachmentMetadata") {
		text, _ := value.(string)
		size += len(key) + len(text)
	}
	if size > maxParametersSize {
		faults.TooLong("status.attachmentMetadata", maxParametersSize)
	}
	for _, name := range []string{"attachError", "detachError"} {
		fault, at := rules.Sub(status, name), "status."+name
		if len(rules.Text(fault, "message")) > maxVolumeError {
			faults.TooLong(at+".message", maxVolumeError)
		}
		notNegative(fault, at, faults, "errorCode")
	}
}

// maxVolumeError bounds the message of a failed attach or detach, in bytes.
const maxVolumeError = 1024

// validateAttached wants either the name of a volume or a volume of its own.
func validateAttached(source schema.Tree, faults *schema.Faults) {
	const path, one = "spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	inline := rules.Sub(source, "inlineVolumeSpec")
	name, named := source["persistentVolumeName"].(string)
	switch {
	case inline == nil && !named:
		faults.Required(path, one)
	case inline != nil && named:
		faults.Forbidden(path, one)
	case named && name == "":
		faults.Required(path+".persistentVolumeName", "must specify non empty persistentVolumeName")
	case inline != nil:
		validateInlineVolume(inline, path+".inlineVolumeSpec", faults)
	}
}
