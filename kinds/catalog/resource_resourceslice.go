package catalog

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func resourceSliceRules() schema.Rules {
	return schema.Rules{Validate: func(obj schema.Tree, faults *schema.Faults) {
		spec := rules.Nested(obj, "spec")
		validatePool(rules.Nested(spec, "pool"), "spec.pool", faults)
		validateNodeScope(spec, "spec", []string{"nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"}, faults)
		names := map[string]bool{}
		for i, device := range rules.Trees(spec, "devices") {
			at, name := rules.IndexPath("spec.devices", i), rules.String(device, "name")
			if names[name] {
				faults.Duplicate(at+".name", name)
			}
			names[name] = true
			validateDevice(device, at, rules.Bool(spec, "perDeviceNodeSelection"), faults)
		}
	}}
}

func validatePool(pool schema.Tree, path string, faults *schema.Faults) {
	name := rules.String(pool, "name")
	if len(name) > 253 {
		faults.TooLong(path+".name", 253)
	}
	for _, part := range strings.Split(name, "/") {
		for _, msg := range rules.Subdomain(part) {
			if name != "" {
				faults.Invalid(path+".name", part, msg)
			}
		}
	}
	if n, _ := rules.Int(pool, "resourceSliceCount"); n <= 0 {
		faults.Invalid(path+".resourceSliceCount", n, "must be greater than zero")
	}
}

// validateNodeScope wants exactly one of the fields that say from which nodes devices can be used.
func validateNodeScope(t schema.Tree, path string, ways []string, faults *schema.Faults) {
	quoted := make([]string, len(ways))
	var set []string
	for i, way := range ways {
		quoted[i] = "`" + way + "`"
		if !rules.Empty(t[way]) {
			set = append(set, quoted[i])
		}
		if flag, ok := t[way].(bool); ok && !flag {
			faults.Invalid(path+"."+way, false, "must be either unset or set to true")
		}
	}
	one := "exactly one of " + strings.Join(quoted, ", ") + " is required"
	switch len(set) {
	case 0:
		faults.Required(path, one)
	case 1:
	default:
		faults.Invalid(path, "{"+strings.Join(set, ", ")+"}", one+", but multiple fields are set")
	}
	validateFormat(t, "nodeName", path, faults, rules.Subdomain)
	if selector := rules.Nested(t, "nodeSelector"); selector != nil {
		validateNodeSelector(selector, path+".nodeSelector", faults)
		if terms := rules.Items(selector, "nodeSelectorTerms"); len(terms) > 1 {
			faults.Invalid(path+".nodeSelector.nodeSelectorTerms", terms, "must have exactly one node selector term")
		}
	}
}

// maxDeviceAttributesAndCapacities bounds the attributes and capacities of a device together.
const maxDeviceAttributesAndCapacities = 32

// validateDevice checks one device. reach says that each device tells from which nodes it
// can be used.
func validateDevice(device schema.Tree, path string, reach bool, faults *schema.Faults) {
	attributes := rules.Nested(device, "attributes")
	if n := len(attributes) + len(rules.Nested(device, "capacity")); n > maxDeviceAttributesAndCapacities {
		faults.Invalid(path, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", maxDeviceAttributesAndCapacities))
	}
	for _, name := range rules.Keys(attributes) {
		validateDeviceAttribute(rules.Nested(attributes, name), rules.KeyPath(path+".attributes", name), faults)
	}
	for i, t := range rules.Trees(device, "taints") {
		at := rules.IndexPath(path+".taints", i)
		validateFormat(t, "key", at, faults, rules.QualifiedName)
		validateFormat(t, "value", at, faults, rules.LabelValue)
		validateEnum(t, "effect", at, faults, "NoExecute", "NoSchedule", "None")
	}
	ways := []string{"nodeName", "nodeSelector", "allNodes"}
	if reach {
		validateNodeScope(device, path, ways, faults)
		return
	}
	for _, way := range ways {
		if rules.Has(device, way) {
			faults.Invalid(path+"."+way, device[way], "must only be set when `perDeviceNodeSelection` is set")
		}
	}
}

// maxAttributeLength bounds the text of an attribute, in bytes.
const maxAttributeLength = 64

// validateDeviceAttribute wants one value, of one of four types.
func validateDeviceAttribute(a schema.Tree, path string, faults *schema.Faults) {
	n := 0
	for _, field := range []string{"bool", "int", "string", "version"} {
		if !rules.Has(a, field) {
			continue
		}
		n++
		if len(rules.String(a, field)) > maxAttributeLength {
			faults.TooLong(path+"."+field, maxAttributeLength)
		}
	}
	switch {
	case n == 0:
		faults.Required(path, "exactly one value must be specified")
	case n > 1:
		faults.Invalid(path, a, "exactly one value must be specified")
	}
}
