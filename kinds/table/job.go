package table

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
)

// showJobStatus shows the first true condition. Terminal conditions take precedence.
func showJobStatus(b []byte, r *row, _ string) []byte {
	conditions := r.json.At("status.conditions")
	switch {
	case conditionTrue(conditions, "Complete"):
		return jsontext.AppendString(b, "Complete")
	case conditionTrue(conditions, "Failed"):
		return jsontext.AppendString(b, "Failed")
	case r.object.Meta.Terminating:
		return jsontext.AppendString(b, "Terminating")
	case conditionTrue(conditions, "Suspended"):
		return jsontext.AppendString(b, "Suspended")
	case conditionTrue(conditions, "FailureTarget"):
		return jsontext.AppendString(b, "FailureTarget")
	}
	return jsontext.AppendString(b, "Running")
}

// showJobCompletions shows succeeded/desired Pods, such as "1/3". A Job without completions is done
// when one of its parallel Pods succeeds. For such a Job, the cell is "0/1", or "0/1 of 4" with
// parallelism 4.
func showJobCompletions(b []byte, r *row, _ string) []byte {
	text := strconv.FormatInt(r.json.At("status.succeeded").Int(), 10) + "/"
	if wanted := r.json.At("spec.completions"); wanted.Exists() {
		return jsontext.AppendString(b, text+jsonpath.Text(wanted))
	}
	text += "1"
	if side := r.json.At("spec.parallelism").Int(); side > 1 {
		text += " of " + strconv.FormatInt(side, 10)
	}
	return jsontext.AppendString(b, text)
}

func showJobDuration(b []byte, r *row, _ string) []byte {
	start, err := time.Parse(time.RFC3339, r.json.At("status.startTime").Text())
	if err != nil {
		return jsontext.AppendString(b, "")
	}
	end, err := time.Parse(time.RFC3339, r.json.At("status.completionTime").Text())
	if err != nil {
		end = r.now
	}
	return jsontext.AppendString(b, HumanDuration(end.Sub(start)))
}
