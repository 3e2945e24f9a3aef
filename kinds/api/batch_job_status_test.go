package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func conditions(types ...string) string {
	text := ""
	for i, kind := range types {
		if i > 0 {
			text += ","
		}
		text += `{"type":"` + kind + `","status":"True"}`
	}
	return `"conditions":[` + text + `]`
}

func TestJobStatus(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "batch", "v1", "Job")
	const (
		whole  = "status.conditions: Invalid value: "
		start  = `"startTime":"2026-01-01T00:00:00Z"`
		end    = `"completionTime":"2026-01-01T01:00:00Z"`
		number = `"completionMode":"Indexed","completions":9`
	)
	done := conditions("SuccessCriteriaMet", "Complete") + "," + start + "," + end
	for _, c := range []struct {
		name, spec, was, now string
		want                 []string
	}{
		{"progress", ``, ``, `"active":1,"ready":1,` + start, nil},
		{"complete", ``, `"active":1,` + start, done, nil},
		{"failed", ``, start, start + `,"failed":1,` + conditions("FailureTarget", "Failed"), nil},
		{"indexes", number + `,"backoffLimitPerIndex":1`, ``, `"completedIndexes":"1,3-5","failedIndexes":"2"`, nil},

		{"negative", ``, ``, `"active":-1,"terminating":-1`, []string{"status.active: Invalid value: -1: must be greater than or equal to 0",
			"status.terminating: Invalid value: -1: must be greater than or equal to 0", "status.ready: Invalid value: 0: cannot set more ready pods than active"}},
		{"ready", ``, ``, `"active":1,"ready":2`, []string{"status.ready: Invalid value: 2: cannot set more ready pods than active"}},
		{"uncounted", ``, ``, `"uncountedTerminatedPods":{"succeeded":["a",""],"failed":["a"]}`, []string{
			`status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty`, `status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"`}},
		{"complete and failed", ``, ``, start + "," + end + "," + conditions("SuccessCriteriaMet", "Complete", "FailureTarget", "Failed"), []string{
			whole + "cannot set Complete=True and Failed=true conditions", whole + "cannot set Complete=True and FailureTarget=true conditions",
			whole + "cannot set SuccessCriteriaMet=True and Failed=true conditions", whole + "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"}},
		{"failed without a reason", ``, ``, start + "," + conditions("Failed"), []string{whole + "cannot set Failed=True condition without the FailureTarget=true condition"}},
		{"complete without a reason", ``, ``, start + "," + end + "," + conditions("Complete"), []string{whole + "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"}},
		{"complete without success", number + `,"successPolicy":{"rules":[{"succeededCount":1}]}`, ``, start + "," + end + "," + conditions("Complete"), []string{
			whole + "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
			whole + "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"}},
		{"end of none", ``, ``, start + "," + end, []string{`status.completionTime: Invalid value: "2026-01-01T01:00:00Z": cannot set completionTime when there is no Complete=True condition`}},
		{"no end", ``, ``, start + "," + conditions("SuccessCriteriaMet", "Complete"), []string{"status.completionTime: Required value: completionTime is required for Complete jobs"}},
		{"end before start", ``, ``, conditions("SuccessCriteriaMet", "Complete") + "," + `"startTime":"2026-01-01T02:00:00Z",` + end, []string{
			`status.completionTime: Invalid value: "2026-01-01T01:00:00Z": completionTime cannot be set before startTime`}},
		{"something left", ``, ``, conditions("FailureTarget", "Failed") + `,"active":1,"terminating":1,"uncountedTerminatedPods":{"failed":["a"]}`, []string{
			"status.active: Invalid value: 1: active>0 is invalid for finished job", "status.startTime: Required value: startTime is required for finished job",
			`status.uncountedTerminatedPods: Invalid value: {"failed":["a"]}: uncountedTerminatedPods needs to be empty for finished job`,
			"status.terminating: Invalid value: 1: terminating>0 is invalid for finished job"}},
		{"indexes of none", ``, ``, `"completedIndexes":"0","failedIndexes":"0"`, []string{
			`status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode`,
			`status.failedIndexes: Invalid value: "0": cannot set non-null failedIndexes when backoffLimitPerIndex is null`,
			`status.failedIndexes: Invalid value: "0": failedIndexes and completedIndexes overlap at index: 0`}},
		{"bad indexes", number + `,"backoffLimitPerIndex":1`, ``, `"completedIndexes":"9","failedIndexes":"a"`, []string{
			`status.completedIndexes: Invalid value: "9": error parsing completedIndexes: too large index: "9"`,
			`status.failedIndexes: Invalid value: "a": error parsing failedIndexes: cannot convert string to integer for index: "a"`}},
		{"overlap", number + `,"backoffLimitPerIndex":1`, ``, `"completedIndexes":"0,2-4","failedIndexes":"1,3"`, []string{
			`status.failedIndexes: Invalid value: "1,3": failedIndexes and completedIndexes overlap at index: 3`}},

		{"undone", ``, done, start, []string{whole + "cannot disable the terminal Complete=True condition", whole + "cannot disable the SuccessCriteriaMet=True condition"}},
		{"counters", ``, `"failed":2,"succeeded":2`, `"failed":1,"succeeded":1`, []string{"status.failed: Invalid value: 1: cannot decrease the failed counter",
			"status.succeeded: Invalid value: 1: cannot decrease the succeeded counter"}},
		{"elastic", number + `,"parallelism":9`, `"succeeded":2`, `"succeeded":1`, nil},
		{"another end", ``, done, conditions("SuccessCriteriaMet", "Complete") + "," + start + `,"completionTime":"2026-01-02T00:00:00Z"`, []string{
			`status.completionTime: Invalid value: "2026-01-02T00:00:00Z": completionTime cannot be mutated`}},
		{"no start", ``, start, ``, []string{"status.startTime: Required value: startTime cannot be removed for unsuspended job"}},
		{"another start when it is resumed", ``, start + "," + conditions("Suspended"), `"startTime":"2026-01-02T00:00:00Z","conditions":[{"type":"Suspended","status":"False"}]`, nil},
		{"no start while suspended", `"suspend":true`, start, ``, nil},
	} {
		obj := Named(k, tree.Tree{"spec": Merged(t, JobTemplateSpec, c.spec)})
		obj.Object("metadata")["uid"] = "u-1"
		if faults := Create(k, obj); len(faults) > 0 {
			t.Fatalf("%s: %v", c.name, faults)
		}
		obj["status"] = Parse(t, "{"+c.was+"}")
		var faults schema.Faults
		err := k.Subresource("status").View.Write(obj, tree.Tree{"status": Parse(t, "{"+c.now+"}")}, "2026-01-01T00:00:00Z", &faults)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		Expect(t, c.name, Lines(faults.List), c.want)
		EqualJSON(t, c.name, obj["status"], "{"+c.now+"}")
	}
}
