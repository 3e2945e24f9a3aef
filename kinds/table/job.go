package table

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/jsonpath"
)

// showJobStatus shows the first true condition. Terminal conditions take precedence.
func showJobStatus(r *row, _ string) string {
	conditions := r.json.At("status.conditions")
	switch {
	case conditionTrue(conditions, "Complete"):
		return "Complete"
	case conditionTrue(conditions, "Failed"):
		return "Failed"
	case r.object.Meta.Terminating:
		return "Terminating"
	case conditionTrue(conditions, "Suspended"):
		return "Suspended"
	case conditionTrue(conditions, "FailureTarget"):
		return "FailureTarget"
	}
	return "Running"
}

// showJobCompletions shows succeeded/desired Pods, such as "1/3". A Job without completions is
// complete when one of its parallel Pods succeeds. Its cell shows "0/1", or "0/1 of 4" with
// parallelism 4.
func showJobCompletions(r *row, _ string) string {
	text := strconv.FormatInt(r.json.At("status.succeeded").Int(), 10) + "/"
	if wanted := r.json.At("spec.completions"); wanted.Exists() {
		return text + jsonpath.Text(wanted)
	}
	text += "1"
	if side := r.json.At("spec.parallelism").Int(); side > 1 {
		text += " of " + strconv.FormatInt(side, 10)
	}
	return text
}

func showJobDuration(r *row, _ string) string {
	start, err := time.Parse(time.RFC3339, r.json.At("status.startTime").Text())
	if err != nil {
		return ""
	}
	end, err := time.Parse(time.RFC3339, r.json.At("status.completionTime").Text())
	if err != nil {
		end = r.now
	}
	return HumanDuration(end.Sub(start))
}
