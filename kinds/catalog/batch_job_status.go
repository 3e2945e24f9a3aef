package catalog

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// writeJobStatus changes the status of a Job. What is over stays over, and the parts of the
// status tell the same story.
func writeJobStatus(obj, body schema.Tree, _ string, faults *schema.Faults) error {
	was := rules.Nested(obj, "status")
	rules.CopyField(obj, body, "status")
	spec, status := rules.Nested(obj, "spec"), rules.Nested(obj, "status")
	validateJobCounts(status, faults)
	validateJobConditions(status, spec, faults)
	validateJobTimes(status, faults)
	if jobFinished(status) {
		validateFinishedJob(status, faults)
	}
	validateJobIndexes(status, spec, faults)
	validateJobProgress(status, was, spec, faults)
	return nil
}

// isJobConditionTrue tells whether a condition of a Job is true.
func isJobConditionTrue(status schema.Tree, kind string) bool {
	for _, c := range rules.Trees(status, "conditions") {
		if rules.String(c, "type") == kind && rules.String(c, "status") == "True" {
			return true
		}
	}
	return false
}

func jobFinished(status schema.Tree) bool {
	return isJobConditionTrue(status, "Complete") || isJobConditionTrue(status, "Failed")
}

func validateJobCounts(status schema.Tree, faults *schema.Faults) {
	validateNonNegative(status, "status", faults, "active", "succeeded", "failed", "ready", "terminating")
	active, _ := rules.Int(status, "active")
	if n, _ := rules.Int(status, "ready"); n > active {
		faults.Invalid("status.ready", n, "cannot set more ready pods than active")
	}
	seen := map[string]bool{}
	for _, name := range []string{"succeeded", "failed"} {
		for i, uid := range rules.Strings(rules.Nested(status, "uncountedTerminatedPods"), name) {
			at := rules.IndexPath("status.uncountedTerminatedPods."+name, i)
			switch {
			case uid == "":
				faults.Invalid(at, uid, "must not be empty")
			case seen[uid]:
				faults.Duplicate(at, uid)
			}
			seen[uid] = true
		}
	}
}

// jobContradictions are the conditions that cannot be true together, and what users are told.
var jobContradictions = []struct{ one, other, msg string }{
	{"Complete", "Failed", "cannot set Complete=True and Failed=true conditions"},
	{"Complete", "FailureTarget", "cannot set Complete=True and FailureTarget=true conditions"},
	{"SuccessCriteriaMet", "Failed", "cannot set SuccessCriteriaMet=True and Failed=true conditions"},
	{"SuccessCriteriaMet", "FailureTarget", "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"},
}

func validateJobConditions(status, spec schema.Tree, faults *schema.Faults) {
	const path = "status.conditions"
	for _, c := range jobContradictions {
		if isJobConditionTrue(status, c.one) && isJobConditionTrue(status, c.other) {
			faults.InvalidOmitValue(path, c.msg)
		}
	}
	if isJobConditionTrue(status, "Failed") && !isJobConditionTrue(status, "FailureTarget") {
		faults.InvalidOmitValue(path, "cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if isJobConditionTrue(status, "Complete") && !isJobConditionTrue(status, "SuccessCriteriaMet") {
		faults.InvalidOmitValue(path, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
		if rules.Has(spec, "successPolicy") {
			faults.InvalidOmitValue(path, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
		}
	}
}

// validateJobTimes compares times as text: trees hold them in UTC, to the second.
func validateJobTimes(status schema.Tree, faults *schema.Faults) {
	const path = "status.completionTime"
	start, end, complete := rules.String(status, "startTime"), rules.String(status, "completionTime"), isJobConditionTrue(status, "Complete")
	switch {
	case end != "" && !complete:
		faults.Invalid(path, end, "cannot set completionTime when there is no Complete=True condition")
	case end == "" && complete:
		faults.Required(path, "completionTime is required for Complete jobs")
	}
	if start != "" && end != "" && end < start {
		faults.Invalid(path, end, "completionTime cannot be set before startTime")
	}
}

// validateFinishedJob wants nothing left to do of a Job that is over.
func validateFinishedJob(status schema.Tree, faults *schema.Faults) {
	if n, _ := rules.Int(status, "active"); n > 0 {
		faults.Invalid("status.active", n, "active>0 is invalid for finished job")
	}
	if !rules.Has(status, "startTime") {
		faults.Required("status.startTime", "startTime is required for finished job")
	}
	uncounted := rules.Nested(status, "uncountedTerminatedPods")
	if len(rules.Items(uncounted, "failed"))+len(rules.Items(uncounted, "succeeded")) > 0 {
		faults.Invalid("status.uncountedTerminatedPods", uncounted, "uncountedTerminatedPods needs to be empty for finished job")
	}
	if n, _ := rules.Int(status, "terminating"); n > 0 {
		faults.Invalid("status.terminating", n, "terminating>0 is invalid for finished job")
	}
}

// validateJobIndexes checks which numbers of an indexed Job have succeeded, and which failed.
func validateJobIndexes(status, spec schema.Tree, faults *schema.Faults) {
	size, sized := rules.Int(spec, "completions")
	completed := rules.String(status, "completedIndexes")
	failed, hasFailed := status["failedIndexes"].(string)
	perIndex := rules.Has(spec, "backoffLimitPerIndex")
	if _, err := countIndexes(completed, size); sized && err != nil {
		faults.Invalid("status.completedIndexes", completed, "error parsing completedIndexes: "+err.Error())
	}
	if _, err := countIndexes(failed, size); sized && perIndex && err != nil {
		faults.Invalid("status.failedIndexes", failed, "error parsing failedIndexes: "+err.Error())
	}
	if completed != "" && rules.String(spec, "completionMode") != completionModeIndexed {
		faults.Invalid("status.completedIndexes", completed, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if hasFailed && !perIndex {
		faults.Invalid("status.failedIndexes", failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if index, both := commonIndex(completed, failed, size); both {
		faults.Invalid("status.failedIndexes", failed, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", index))
	}
}

// validateJobProgress compares a status with the one before.
func validateJobProgress(status, was, spec schema.Tree, faults *schema.Faults) {
	for _, kind := range []string{"Failed", "Complete", "FailureTarget"} {
		if isJobConditionTrue(was, kind) && !isJobConditionTrue(status, kind) {
			faults.InvalidOmitValue("status.conditions", "cannot disable the terminal "+kind+"=True condition")
		}
	}
	if isJobConditionTrue(was, "SuccessCriteriaMet") && !isJobConditionTrue(status, "SuccessCriteriaMet") {
		faults.InvalidOmitValue("status.conditions", "cannot disable the SuccessCriteriaMet=True condition")
	}
	counters := []string{"failed"}
	if rules.String(spec, "completionMode") != completionModeIndexed || !rules.SemanticEqual(spec["completions"], spec["parallelism"]) {
		counters = append(counters, "succeeded") // the others can shrink
	}
	for _, name := range counters {
		now, _ := rules.Int(status, name)
		if before, _ := rules.Int(was, name); now < before {
			faults.Invalid("status."+name, now, "cannot decrease the "+name+" counter")
		}
	}
	end, before := rules.String(status, "completionTime"), rules.String(was, "completionTime")
	if end != "" && before != "" && end != before {
		faults.Invalid("status.completionTime", end, "completionTime cannot be mutated")
	}
	if start := rules.String(was, "startTime"); start != "" && start != rules.String(status, "startTime") && !rules.Bool(spec, "suspend") {
		faults.Required("status.startTime", "startTime cannot be removed for unsuspended job")
	}
}
