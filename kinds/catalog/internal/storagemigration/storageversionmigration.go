package storagemigration

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type migrationStrategy struct {
	schema.DefaultStrategy
	family.EmptyStatusOnCreate
}

// Validate asks for the names of a resource and of its group, "" for the core group. Whether there
// is such a resource is for the controller to find out: its definition may come later.
func (migrationStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	const path = "spec.resource"
	of := obj.Object("spec", "resource")
	if name := of.String("resource"); name == "" {
		faults.Required(path+".resource", "resource is required to be set")
	} else if msgs := rules.Label1035(name); len(msgs) > 0 {
		faults.Invalid(path+".resource", name, strings.Join(msgs, ","))
	}
	if group := of.String("group"); group != "" {
		if msgs := rules.Subdomain(group); len(msgs) > 0 {
			faults.Invalid(path+".group", group, strings.Join(msgs, ","))
		}
	}
}

// The types of the conditions. Running is True until one of the others is, which then stays so.
const (
	running   = "Running"
	succeeded = "Succeeded"
	failed    = "Failed"
)

// ValidateUpdate checks a status that is written. Nothing else does: writes of the object itself
// keep it as it is.
func (migrationStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	now, was := obj.Object("status"), old.Object("status")
	if tree.SemanticEqual(now, was) {
		return
	}
	const path = "status.resourceVersion"
	version := now.String("resourceVersion")
	if _, err := strconv.ParseUint(version, 10, 64); err != nil || version[0] == '0' {
		faults.Invalid(path, version, "resource version is not well formed: "+version)
	}
	field.Conditions(now, "status.conditions", faults)
	if before := was.String("resourceVersion"); before != "" && before != version {
		faults.Invalid(path, version, "field is immutable")
	}
	validateOutcome(now, was, faults)
}

// validateOutcome requires that a migration has one outcome, that it does not run any more then, and that the outcome
// is final.
func validateOutcome(now, was tree.Tree, faults *schema.Faults) {
	refuse := func(msg string) { faults.Invalid("status.conditions", now["conditions"], msg) }
	is := func(kind string) bool { return condition.IsTrue(now, kind) }
	if is(succeeded) && is(failed) {
		refuse("Both success and failed conditions cannot be true at the same time")
	}
	if is(succeeded) && is(running) {
		refuse("Running condition cannot be true when success condition is true")
	}
	if is(failed) && is(running) {
		refuse("Running condition cannot be true when failed condition is true")
	}
	if condition.IsTrue(was, succeeded) && !is(succeeded) {
		refuse("Success condition cannot be set to false once it is true")
	}
	if condition.IsTrue(was, failed) && !is(failed) {
		refuse("Failed condition cannot be set to false once it is true")
	}
}
