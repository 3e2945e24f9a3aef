package catalog

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxDriverName bounds the name of a storage driver, in bytes.
const maxDriverName = 63

// validateDriverName checks the name of a storage driver: a subdomain in any case.
func validateDriverName(t schema.Tree, name, path string, faults *schema.Faults) {
	path = rules.FieldPath(path, name)
	driver := rules.String(t, name)
	if driver == "" {
		faults.Required(path)
		return
	}
	if len(driver) > maxDriverName {
		faults.TooLong(path, maxDriverName)
	}
	for _, msg := range rules.Subdomain(strings.ToLower(driver)) {
		faults.Invalid(path, driver, msg)
	}
}

func csiDriverRules() schema.Rules {
	return schema.Rules{
		Default: func(obj schema.Tree) {
			if spec := rules.EnsureNested(obj, "spec"); len(rules.Items(spec, "volumeLifecycleModes")) == 0 {
				spec["volumeLifecycleModes"] = []any{"Persistent"}
			}
		},
		Prepare: func(obj, old schema.Tree) {
			if old == nil { // the first change is the first generation
				delete(rules.Nested(obj, "metadata"), "generation")
			}
		},
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			spec := rules.Nested(obj, "spec")
			validateTokenRequests(spec, "spec.tokenRequests", faults)
			const minPeriod = 10
			if n, ok := rules.Int(spec, "nodeAllocatableUpdatePeriodSeconds"); ok && n < minPeriod {
				faults.Invalid("spec.nodeAllocatableUpdatePeriodSeconds", n, fmt.Sprintf("must be greater than or equal to %d seconds", minPeriod))
			}
			if rules.Has(spec, "serviceAccountTokenInSecrets") && len(rules.Items(spec, "tokenRequests")) == 0 {
				faults.Invalid("spec.serviceAccountTokenInSecrets", spec["serviceAccountTokenInSecrets"], "can only be set when tokenRequests is configured")
			}
		},
		ValidateUpdate: func(obj, old schema.Tree, faults *schema.Faults) {
			now, was := rules.Nested(obj, "spec")["attachRequired"], rules.Nested(old, "spec")["attachRequired"]
			if now != was { // users know the path under this name
				faults.Invalid("spec.attachedRequired", now, "field is immutable")
			}
		},
	}
}

// validateTokenSeconds checks for how long a token is asked for, if that is said.
func validateTokenSeconds(t schema.Tree, path string, faults *schema.Faults) {
	path += ".expirationSeconds"
	switch n, ok := rules.Int(t, "expirationSeconds"); {
	case ok && n < minTokenSeconds:
		faults.Invalid(path, n, "may not specify a duration less than 10 minutes")
	case ok && n > maxTokenSeconds:
		faults.Invalid(path, n, "may not specify a duration larger than 2^32 seconds")
	}
}

// validateTokenRequests wants each audience once; one may be empty.
func validateTokenRequests(spec schema.Tree, path string, faults *schema.Faults) {
	seen := map[string]bool{}
	for i, request := range rules.Trees(spec, "tokenRequests") {
		at, audience := rules.IndexPath(path, i), rules.String(request, "audience")
		if seen[audience] {
			faults.Duplicate(at+".audience", audience)
			continue
		}
		seen[audience] = true
		validateTokenSeconds(request, at, faults)
	}
}

func csiNodeRules() schema.Rules {
	return schema.Rules{
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			for i, driver := range rules.Trees(rules.Nested(obj, "spec"), "drivers") {
				validateNodeDriver(driver, rules.IndexPath("spec.drivers", i), faults)
			}
		},
		ValidateUpdate: validateNodeDriversUpdate,
	}
}

// maxNodeID bounds what a driver calls a node, in bytes.
const maxNodeID = 192

func validateNodeDriver(driver schema.Tree, path string, faults *schema.Faults) {
	validateDriverName(driver, "name", path, faults)
	if id := rules.String(driver, "nodeID"); len(id) > maxNodeID {
		faults.Invalid(path+".nodeID", id, fmt.Sprintf("must be %d characters or less", maxNodeID))
	}
	seen := map[string]bool{}
	for _, key := range rules.Strings(driver, "topologyKeys") {
		if key == "" {
			faults.Required(path)
			continue
		}
		if seen[key] {
			faults.Duplicate(path, key)
		}
		seen[key] = true
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(path, driver["topologyKeys"], msg)
		}
	}
}

// validateNodeDriversUpdate: drivers come and go, but none changes, except for how many
// volumes it takes.
func validateNodeDriversUpdate(obj, old schema.Tree, faults *schema.Faults) {
	before := map[string]schema.Tree{}
	for _, driver := range rules.Trees(rules.Nested(old, "spec"), "drivers") {
		before[rules.String(driver, "name")] = driver
	}
	for _, driver := range rules.Trees(rules.Nested(obj, "spec"), "drivers") {
		was := before[rules.String(driver, "name")]
		if was == nil {
			continue
		}
		if !rules.SemanticEqual(driver["nodeID"], was["nodeID"]) || !rules.SemanticEqual(driver["topologyKeys"], was["topologyKeys"]) {
			faults.Invalid("CSINodeDriver", driver, "field is immutable")
		}
	}
}

func csiStorageCapacityRules() schema.Rules {
	return schema.Rules{
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			class := rules.String(obj, "storageClassName")
			for _, msg := range rules.Subdomain(class) {
				faults.Invalid("storageClassName", class, msg)
			}
			validateLabelSelector(rules.Nested(obj, "nodeTopology"), "nodeTopology", faults)
			for _, name := range []string{"capacity", "maximumVolumeSize"} {
				if q := rules.String(obj, name); q != "" && quantity.Compare(q, "0") < 0 {
					faults.Invalid(name, q, nonNegativeMsg)
				}
			}
		},
		ValidateUpdate: func(obj, old schema.Tree, faults *schema.Faults) {
			// An empty topology, which is every node, differs from none, which is no node.
			if rules.Has(obj, "nodeTopology") != rules.Has(old, "nodeTopology") || !rules.SemanticEqual(obj["nodeTopology"], old["nodeTopology"]) {
				faults.Invalid("nodeTopology", obj["nodeTopology"], "field is immutable")
			}
		},
	}
}
