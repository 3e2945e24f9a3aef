package present

import (
	"strconv"
	"time"
)

func showJobStatus(b []byte, r *row, _ string) []byte {
	conditions := r.json.at("status.conditions")
	switch {
	case conditionTrue(conditions, "Complete"):
		return appendText(b, "Complete")
	case conditionTrue(conditions, "Failed"):
		return appendText(b, "Failed")
	case r.object.Meta.Terminating:
		return appendText(b, "Terminating")
	case conditionTrue(conditions, "Suspended"):
		return appendText(b, "Suspended")
	case conditionTrue(conditions, "FailureTarget"):
		return appendText(b, "FailureTarget")
	}
	return appendText(b, "Running")
}

// showJobCompletions writes succeeded/wanted Pods; a Job without a number of completions
// wants one of the Pods that run side by side.
func showJobCompletions(b []byte, r *row, _ string) []byte {
	text := strconv.FormatInt(r.json.at("status.succeeded").number(), 10) + "/"
	if wanted := r.json.at("spec.completions"); wanted.exists() {
		return appendText(b, text+wanted.plain())
	}
	text += "1"
	if side := r.json.at("spec.parallelism").number(); side > 1 {
		text += " of " + strconv.FormatInt(side, 10)
	}
	return appendText(b, text)
}

func showJobDuration(b []byte, r *row, _ string) []byte {
	start, err := time.Parse(time.RFC3339, r.json.at("status.startTime").text())
	if err != nil {
		return appendText(b, "")
	}
	end, err := time.Parse(time.RFC3339, r.json.at("status.completionTime").text())
	if err != nil {
		end = r.now
	}
	return appendText(b, humanDuration(end.Sub(start)))
}
