package resource

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/scheduling"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The names of devices must be unique in a slice, because an allocation refers to a device by driver, pool and name.
type resourceSliceStrategy struct{ family.AlwaysWarns }

func (resourceSliceStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
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
}

// The name of a pool may have several parts with slashes between them, each a subdomain. The number of slices tells the scheduler
// when it has seen a pool as a whole, and so cannot be zero.
func validatePool(pool tree.Tree, path string, faults *schema.Faults) {
	validatePoolName(pool.String("name"), path+".name", faults)
	if n, _ := pool.Int("resourceSliceCount"); n <= 0 {
		faults.Invalid(path+".resourceSliceCount", n, "must be greater than zero")
	}
}

// validatePoolName checks a name that is there.
func validatePoolName(name, path string, faults *schema.Faults) {
	if name == "" {
		return
	}
	if len(name) > 253 {
		faults.TooLong(path, 253)
	}
	for _, part := range strings.Split(name, "/") {
		for _, msg := range rules.Subdomain(part) {
			faults.Invalid(path, part, msg)
		}
	}
}

// validateNodeScope requires exactly one of the fields that say from which nodes devices can be used.
//
// A false flag is refused instead of being taken for absent: the choice would look as if it were made. One term of a
// selector is what the scheduler can hand on to a claim.
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

// maxDeviceAttributesAndCapacities bounds the attributes and capacities of a device together. With the
// bound on devices in a slice it keeps a slice below the size of an object.
const maxDeviceAttributesAndCapacities = 32

// validateDevice checks one device. reach says that the slice leaves it to each device to name the
// nodes that can use it.
//
// The bound holds for the sum of attributes and capacities, which is what keeps a slice with many devices within the
// size of an object.
func validateDevice(device tree.Tree, path string, reach bool, faults *schema.Faults) {
	attributes := device.Object("attributes")
	if n := len(attributes) + len(device.Object("capacity")); n > maxDeviceAttributesAndCapacities {
		faults.Invalid(path, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", maxDeviceAttributesAndCapacities))
	}
	for _, name := range attributes.SortedKeys() {
		validateAttributeName(name, path+".attributes", faults)
		validateDeviceAttribute(attributes.Object(name), tree.KeyPath(path+".attributes", name), faults)
	}
	for _, name := range device.Object("capacity").SortedKeys() {
		validateAttributeName(name, path+".capacity", faults)
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

// The bounds of the parts of an attribute's name, in bytes.
const (
	maxAttributeDomain = 63
	maxAttributeName   = 32
)

// validateAttributeName checks the name of an attribute or a capacity, which may begin with a domain; without one it is
// in that of the driver. Selectors look for both parts apart. Of a name with more than one slash nothing is checked, as
// in the public API.
func validateAttributeName(name, path string, faults *schema.Faults) {
	domain, id, qualified := strings.Cut(name, "/")
	switch {
	case !qualified:
		id = name
	case strings.Contains(id, "/"):
		return
	case domain == "":
		faults.Invalid(path, "", "the domain must not be empty")
	default:
		if len(domain) > maxAttributeDomain {
			faults.TooLong(path, maxAttributeDomain)
		}
		for _, msg := range rules.Subdomain(domain) {
			faults.Invalid(path, domain, msg)
		}
	}
	if qualified && id == "" {
		faults.Invalid(path, "", "the name must not be empty")
		return
	}
	if len(id) > maxAttributeName {
		faults.TooLong(path, maxAttributeName)
	}
	for _, msg := range rules.CIdentifier(id) {
		faults.Invalid(path, id, msg)
	}
}

// maxAttributeLength bounds the text of an attribute, in bytes. Attributes are compared in selectors and
// are not meant for descriptions.
const maxAttributeLength = 64

// isVersion matches semantic versions, to the letter of semver.org.
var isVersion = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)` +
	`(-(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?` +
	`(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// validateDeviceAttribute requires exactly one value, of one of four types.
//
// The four types are fields of their own because selectors compare typed values: "10" as text and as a version sort
// differently.
func validateDeviceAttribute(a tree.Tree, path string, faults *schema.Faults) {
	n := 0
	for _, field := range []string{"bool", "int", "string", "version"} {
		if !a.Has(field) {
			continue
		}
		n++
		if field == "version" && !isVersion.MatchString(a.String(field)) {
			faults.Invalid(path+".version", a.String(field), "must be a string compatible with semver.org spec 2.0.0")
		}
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
