package storage

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/authentication"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// attachRequired cannot change, as attachments that exist were made, or not made, by its old value. The default of
// the modes is what drivers did before there was a choice.
type csiDriverStrategy struct{ schema.DefaultStrategy }

func (csiDriverStrategy) Default(obj tree.Tree) {
	if spec := obj.EnsureObject("spec"); len(spec.List("volumeLifecycleModes")) == 0 {
		spec["volumeLifecycleModes"] = []any{"Persistent"}
	}
}

func (csiDriverStrategy) Prepare(obj, old tree.Tree) {
	if old == nil { // generation counts updates only, and begins absent
		delete(obj.Object("metadata"), "generation")
	}
}

func (csiDriverStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	validateTokenRequests(spec, "spec.tokenRequests", faults)
	const minPeriod = 10
	if n, ok := spec.Int("nodeAllocatableUpdatePeriodSeconds"); ok && n < minPeriod {
		faults.Invalid("spec.nodeAllocatableUpdatePeriodSeconds", n, fmt.Sprintf("must be greater than or equal to %d seconds", minPeriod))
	}
	if spec.Has("serviceAccountTokenInSecrets") && len(spec.List("tokenRequests")) == 0 {
		faults.Invalid("spec.serviceAccountTokenInSecrets", spec["serviceAccountTokenInSecrets"], "can only be set when tokenRequests is configured")
	}
}

func (csiDriverStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	now, was := obj.Object("spec")["attachRequired"], old.Object("spec")["attachRequired"]
	if now != was { // clients expect this spelling of the path
		faults.Invalid("spec.attachedRequired", now, "field is immutable")
	}
}

// validateTokenRequests requires distinct audiences; one may be empty.
//
// Two requests for one audience would get two tokens of which a driver could find only one. The empty audience is
// that of this server.
func validateTokenRequests(spec tree.Tree, path string, faults *schema.Faults) {
	seen := map[string]bool{}
	for i, request := range spec.Objects("tokenRequests") {
		at, audience := tree.IndexPath(path, i), request.String("audience")
		if seen[audience] {
			faults.Duplicate(at+".audience", audience)
			continue
		}
		seen[audience] = true
		authentication.ValidateTokenSeconds(request, at, faults)
	}
}

// A CSINode is written by the agent of its node and says which drivers run there.
type csiNodeStrategy struct{ schema.DefaultStrategy }

func (csiNodeStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	for i, driver := range obj.Object("spec").Objects("drivers") {
		validateNodeDriver(driver, tree.IndexPath("spec.drivers", i), faults)
	}
}

// maxNodeID bounds the node ID of a driver, in bytes. Drivers use the identifier that their machine has in
// the provider's API.
const maxNodeID = 256

// The paths of its faults are that of the driver, without the field and the index, as clients expect them.
func validateNodeDriver(driver tree.Tree, path string, faults *schema.Faults) {
	if id := driver.String("nodeID"); len(id) > maxNodeID {
		faults.Invalid(path+".nodeID", id, fmt.Sprintf("must be %d characters or less", maxNodeID))
	}
	seen := map[string]bool{}
	for _, key := range driver.Strings("topologyKeys") {
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

// ValidateUpdate allows drivers to be added and removed, but not to change, except for the
// number of volumes that they allow.
//
// A driver under the same name with another node ID would leave its attachments with an ID that nobody answers to; it
// must be removed and added again.
func (csiNodeStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	before := map[string]tree.Tree{}
	for _, driver := range old.Object("spec").Objects("drivers") {
		before[driver.String("name")] = driver
	}
	for _, driver := range obj.Object("spec").Objects("drivers") {
		was := before[driver.String("name")]
		if was == nil {
			continue
		}
		if !tree.SemanticEqual(driver["nodeID"], was["nodeID"]) || !tree.SemanticEqual(driver["topologyKeys"], was["topologyKeys"]) {
			faults.Invalid("CSINodeDriver", driver, "field is immutable")
		}
	}
}

// Capacities are compared as quantities, not as text: "-1Gi" is negative however it is written.
type csiStorageCapacityStrategy struct {
	family.AlwaysWarns
	labels warning.NodeLabels
}

func (csiStorageCapacityStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	class := obj.String("storageClassName")
	for _, msg := range rules.Subdomain(class) {
		faults.Invalid("storageClassName", class, msg)
	}
	field.LabelSelector(obj.Object("nodeTopology"), "nodeTopology", faults)
	if q := obj.String("capacity"); q != "" && quantity.Compare(q, "0") < 0 {
		faults.Invalid("capacity", q, field.NonNegativeMsg)
	}
}

func (csiStorageCapacityStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	// An empty topology selects every node, and an absent one selects none.
	if obj.Has("nodeTopology") != old.Has("nodeTopology") || !tree.SemanticEqual(obj["nodeTopology"], old["nodeTopology"]) {
		faults.Invalid("nodeTopology", obj["nodeTopology"], "field is immutable")
	}
}
