package batch

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The bounds of the policies of Jobs. They bound the work of the controller for each Pod that fails, and
// the size of the status.
const (
	maxPolicyRules      = 20
	maxSucceededIndexes = 64 << 10 // bytes
)

// validateFailurePolicy checks the pod failure policy.
//
// Names of containers are those of the template, init containers too: a rule for a name that does not exist would
// never match, and nobody would notice.
func validateFailurePolicy(spec tree.Tree, path string, faults *schema.Faults) {
	list := spec.Object("podFailurePolicy").Objects("rules")
	containers := map[string]bool{}
	for _, name := range []string{"containers", "initContainers"} {
		for _, c := range spec.Object("template", "spec").Objects(name) {
			containers[c.String("name")] = true
		}
	}
	for i, rule := range list {
		validateFailureRule(spec, rule, tree.IndexPath(path+".rules", i), containers, faults)
	}
}

// A rule is either about exit codes or about conditions: both in one could mean "and" or "or".
func validateFailureRule(spec, rule tree.Tree, path string, containers map[string]bool, faults *schema.Faults) {
	if rule.String("action") == "FailIndex" && !spec.Has("backoffLimitPerIndex") {
		faults.Invalid(path+".action", "FailIndex", "requires the backoffLimitPerIndex to be set")
	}
	codes, conditions := rule.Object("onExitCodes"), rule.Objects("onPodConditions")
	if codes != nil {
		validateExitCodes(codes, path+".onExitCodes", containers, faults)
	}
	for i, c := range conditions {
		validateConditionPattern(c, tree.IndexPath(path+".onPodConditions", i), faults)
	}
	switch has := len(conditions) > 0; {
	case codes != nil && has:
		faults.InvalidOmitValue(path, "specifying both OnExitCodes and OnPodConditions is not supported")
	case codes == nil && !has:
		faults.InvalidOmitValue(path, "specifying one of OnExitCodes and OnPodConditions is required")
	}
}

// validateConditionPattern checks the type only; which conditions exist is for the kubelets and controllers that
// write them.
func validateConditionPattern(c tree.Tree, path string, faults *schema.Faults) {
	kind := c.String("type")
	for _, msg := range rules.QualifiedName(kind) {
		faults.Invalid(path+".type", kind, msg)
	}
}

// validateExitCodes checks a sorted list of exit codes. The declaration requires unique ones.
//
// 0 is success, which no rule about failures can match by In. The order is required so that equal lists are equal
// texts.
func validateExitCodes(codes tree.Tree, path string, containers map[string]bool, faults *schema.Faults) {
	operator := codes.String("operator")
	if name, ok := codes["containerName"].(string); ok && !containers[name] {
		faults.Invalid(path+".containerName", name, "must be one of the container or initContainer names in the pod template")
	}
	values := codes.List("values")
	if len(values) == 0 {
		faults.Invalid(path+".values", values, "at least one value is required")
	}
	ordered, before := true, int64(0)
	for i, v := range values {
		n, _ := v.(int64)
		if n == 0 && operator == "In" {
			faults.Invalid(tree.IndexPath(path+".values", i), n, "must not be 0 for the In operator")
		}
		ordered = ordered && (i == 0 || before <= n)
		before = n
	}
	if !ordered {
		faults.Invalid(path+".values", values, "must be ordered")
	}
}

// validateSuccessPolicy checks the success policy, which only indexed Jobs may have.
//
// The number of rules has a bound, since the controller looks at all of them whenever a Pod ends.
func validateSuccessPolicy(spec tree.Tree, path string, faults *schema.Faults) {
	list := spec.Object("successPolicy").Objects("rules")
	switch {
	case len(list) == 0:
		faults.Required(path+".rules", "at least one rules must be specified when the successPolicy is specified")
	case len(list) > maxPolicyRules:
		faults.TooMany(path+".rules", len(list), maxPolicyRules)
	}
	completions, _ := spec.Int("completions")
	for i, rule := range list {
		validateSuccessRule(rule, completions, tree.IndexPath(path+".rules", i), faults)
	}
}

// A count that is greater than the indexes it is counted among could never be reached.
func validateSuccessRule(rule tree.Tree, completions int64, path string, faults *schema.Faults) {
	text, hasIndexes := rule["succeededIndexes"].(string)
	count, hasCount := rule.Int("succeededCount")
	if !hasIndexes && !hasCount {
		faults.Required(path, "at least one of succeededCount or succeededIndexes must be specified")
	}
	total, err := countIndexes(text, completions)
	if len(text) > maxSucceededIndexes {
		faults.TooLong(path+".succeededIndexes", maxSucceededIndexes)
	}
	if err != nil {
		faults.Invalid(path+".succeededIndexes", text, "error parsing succeededIndexes: "+err.Error())
	}
	field.NonNegative(rule, path, faults, "succeededCount")
	if hasCount && count > completions {
		faults.Invalid(path+".succeededCount", count,
			fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions))
	}
	if hasCount && hasIndexes && count > total {
		faults.Invalid(path+".succeededCount", count,
			fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total))
	}
}
