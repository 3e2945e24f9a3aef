package batch

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// writeJobStatus replaces the status of a Job. A finished Job stays finished, and the parts of the
// status must be consistent.
//
// The checks are strict because others wait for a Job to finish: one that is finished and then is not, or that counts
// backwards, makes them act twice.
func writeJobStatus(obj, body tree.Tree, _ string, faults *schema.Faults) error {
	was := obj.Object("status")
	obj.CopyField(body, "status")
	spec, status := obj.Object("spec"), obj.Object("status")
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

// jobFinished tells whether a Job has either of its two final conditions.
func jobFinished(status tree.Tree) bool {
	return condition.IsTrue(status, "Complete") || condition.IsTrue(status, "Failed")
}

// The UIDs of Pods that are still to be counted must be distinct over both lists, as each Pod is counted once, as
// failed or as succeeded.
func validateJobCounts(status tree.Tree, faults *schema.Faults) {
	field.NonNegative(status, "status", faults, "active", "succeeded", "failed", "ready", "terminating")
	active, _ := status.Int("active")
	if n, _ := status.Int("ready"); n > active {
		faults.Invalid("status.ready", n, "cannot set more ready pods than active")
	}
	seen := map[string]bool{}
	for _, name := range []string{"succeeded", "failed"} {
		for i, uid := range status.Object("uncountedTerminatedPods").Strings(name) {
			at := tree.IndexPath("status.uncountedTerminatedPods."+name, i)
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

// jobContradictions are the conditions that cannot be true together, with the message.
var jobContradictions = []struct{ one, other, msg string }{
	{"Complete", "Failed", "cannot set Complete=True and Failed=true conditions"},
	{"Complete", "FailureTarget", "cannot set Complete=True and FailureTarget=true conditions"},
	{"SuccessCriteriaMet", "Failed", "cannot set SuccessCriteriaMet=True and Failed=true conditions"},
	{"SuccessCriteriaMet", "FailureTarget", "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"},
}

// The criteria come first and the end afterwards: between the two the remaining Pods are ended. So each final
// condition needs the one before it.
func validateJobConditions(status, spec tree.Tree, faults *schema.Faults) {
	const path = "status.conditions"
	for _, c := range jobContradictions {
		if condition.IsTrue(status, c.one) && condition.IsTrue(status, c.other) {
			faults.InvalidOmitValue(path, c.msg)
		}
	}
	if condition.IsTrue(status, "Failed") && !condition.IsTrue(status, "FailureTarget") {
		faults.InvalidOmitValue(path, "cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if condition.IsTrue(status, "Complete") && !condition.IsTrue(status, "SuccessCriteriaMet") {
		faults.InvalidOmitValue(path, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
		if spec.Has("successPolicy") {
			faults.InvalidOmitValue(path, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
		}
	}
}

// validateJobTimes compares times as text: trees hold them in UTC, to the second.
func validateJobTimes(status tree.Tree, faults *schema.Faults) {
	const path = "status.completionTime"
	start, end, complete := status.String("startTime"), status.String("completionTime"), condition.IsTrue(status, "Complete")
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

// validateFinishedJob checks that a finished Job has no active Pods and nothing left to count.
func validateFinishedJob(status tree.Tree, faults *schema.Faults) {
	if n, _ := status.Int("active"); n > 0 {
		faults.Invalid("status.active", n, "active>0 is invalid for finished job")
	}
	if !status.Has("startTime") {
		faults.Required("status.startTime", "startTime is required for finished job")
	}
	uncounted := status.Object("uncountedTerminatedPods")
	if len(uncounted.List("failed"))+len(uncounted.List("succeeded")) > 0 {
		faults.Invalid("status.uncountedTerminatedPods", uncounted, "uncountedTerminatedPods needs to be empty for finished job")
	}
	if n, _ := status.Int("terminating"); n > 0 {
		faults.Invalid("status.terminating", n, "terminating>0 is invalid for finished job")
	}
}

// validateJobIndexes checks the completed and the failed indexes of an indexed Job.
//
// An index is completed or failed, never both.
func validateJobIndexes(status, spec tree.Tree, faults *schema.Faults) {
	size, sized := spec.Int("completions")
	completed := status.String("completedIndexes")
	failed, hasFailed := status["failedIndexes"].(string)
	perIndex := spec.Has("backoffLimitPerIndex")
	if _, err := countIndexes(completed, size); sized && err != nil {
		faults.Invalid("status.completedIndexes", completed, "error parsing completedIndexes: "+err.Error())
	}
	if _, err := countIndexes(failed, size); sized && perIndex && err != nil {
		faults.Invalid("status.failedIndexes", failed, "error parsing failedIndexes: "+err.Error())
	}
	if completed != "" && spec.String("completionMode") != completionModeIndexed {
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
//
// Counters only rise, but for "succeeded" where a Job may shrink. The start time may be removed by suspending alone.
func validateJobProgress(status, was, spec tree.Tree, faults *schema.Faults) {
	for _, kind := range []string{"Failed", "Complete", "FailureTarget"} {
		if condition.IsTrue(was, kind) && !condition.IsTrue(status, kind) {
			faults.InvalidOmitValue("status.conditions", "cannot disable the terminal "+kind+"=True condition")
		}
	}
	if condition.IsTrue(was, "SuccessCriteriaMet") && !condition.IsTrue(status, "SuccessCriteriaMet") {
		faults.InvalidOmitValue("status.conditions", "cannot disable the SuccessCriteriaMet=True condition")
	}
	counters := []string{"failed"}
	if spec.String("completionMode") != completionModeIndexed || !tree.SemanticEqual(spec["completions"], spec["parallelism"]) {
		counters = append(counters, "succeeded") // the others can shrink
	}
	for _, name := range counters {
		now, _ := status.Int(name)
		if before, _ := was.Int(name); now < before {
			faults.Invalid("status."+name, now, "cannot decrease the "+name+" counter")
		}
	}
	end, before := status.String("completionTime"), was.String("completionTime")
	if end != "" && before != "" && end != before {
		faults.Invalid("status.completionTime", end, "completionTime cannot be mutated")
	}
	resumes := condition.IsTrue(was, "Suspended") && condition.Find(status, "Suspended").String("status") == "False" // it starts anew
	if start := was.String("startTime"); start != "" && start != status.String("startTime") && !spec.Bool("suspend") && !resumes {
		faults.Required("status.startTime", "startTime cannot be removed for unsuspended job")
	}
}
