package resource

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/scheduling"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func resourceSliceRules() schema.Rules {
	return schema.Rules{Validate: func(obj tree.Tree, faults *schema.Faults) {
		spec := obj.Object("spec")
		validatePool(spec.Object("pool"), "spec.pool", faults)
		validateNodeScope(spec, "spec", []string{"nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"}, faults)
		names := map[string]bool{}
		for i, device := range spec.Objects("devices") {
			at, name := tree.IndexPath("spec.devices", i), device.String("name")
			if names[name] {
				faults.Duplicate(at+".name", name)
			}
			names[name] = true
			validateDevice(device, at, spec.Bool("perDeviceNodeSelection"), faults)
		}
	}}
}

func validatePool(pool tree.Tree, path string, faults *schema.Faults) {
	name := pool.String("name")
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
	if n, _ := pool.Int("resourceSliceCount"); n <= 0 {
		faults.Invalid(path+".resourceSliceCount", n, "must be greater than zero")
	}
}

// validateNodeScope requires exactly one of the fields that say from which nodes devices can be used.
func validateNodeScope(t tree.Tree, path string, ways []string, faults *schema.Faults) {
	quoted := make([]string, len(ways))
	var set []string
	for i, way := range ways {
		quoted[i] = "`" + way + "`"
		if !tree.IsEmpty(t[way]) {
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
	field.Format(t, "nodeName", path, faults, rules.Subdomain)
	if selector := t.Object("nodeSelector"); selector != nil {
		scheduling.ValidateNodeSelector(selector, path+".nodeSelector", faults)
		if terms := selector.List("nodeSelectorTerms"); len(terms) > 1 {
			faults.Invalid(path+".nodeSelector.nodeSelectorTerms", terms, "must have exactly one node selector term")
		}
	}
}

// maxDeviceAttributesAndCapacities bounds the attributes and capacities of a device together.
const maxDeviceAttributesAndCapacities = 32

// validateDevice checks one device. reach says that the slice leaves it to each device to name the
// nodes that can use it.
func validateDevice(device tree.Tree, path string, reach bool, faults *schema.Faults) {
	attributes := device.Object("attributes")
	if n := len(attributes) + len(device.Object("capacity")); n > maxDeviceAttributesAndCapacities {
		faults.Invalid(path, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", maxDeviceAttributesAndCapacities))
	}
	for _, name := range attributes.SortedKeys() {
		validateDeviceAttribute(attributes.Object(name), tree.KeyPath(path+".attributes", name), faults)
	}
	for i, t := range device.Objects("taints") {
		at := tree.IndexPath(path+".taints", i)
		field.Format(t, "key", at, faults, rules.QualifiedName)
		field.Format(t, "value", at, faults, rules.LabelValue)
		field.Enum(t, "effect", at, faults, "NoExecute", "NoSchedule", "None")
	}
	ways := []string{"nodeName", "nodeSelector", "allNodes"}
	if reach {
		validateNodeScope(device, path, ways, faults)
		return
	}
	for _, way := range ways {
		if device.Has(way) {
			faults.Invalid(path+"."+way, device[way], "must only be set when `perDeviceNodeSelection` is set")
		}
	}
}

// maxAttributeLength bounds the text of an attribute, in bytes.
const maxAttributeLength = 64

// validateDeviceAttribute requires exactly one value, of one of four types.
func validateDeviceAttribute(a tree.Tree, path string, faults *schema.Faults) {
	n := 0
	for _, field := range []string{"bool", "int", "string", "version"} {
		if !a.Has(field) {
			continue
		}
		n++
		if len(a.String(field)) > maxAttributeLength {
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
