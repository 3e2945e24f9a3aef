package job

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A verdict is the effect of a failed Pod on its Job. With the zero verdict, the Pod is replaced
// and counts toward no limit.
type verdict struct {
	counts     bool   // towards the limits
	failsIndex bool   // its index is not retried
	failsJob   string // why the Job fails; "" if it does not
}

// evaluateFailurePolicy returns the verdict of the first rule that a failed Pod matches. Without a
// match, the failure counts. Unknown actions, which a newer API version may have added, are
// skipped.
func evaluateFailurePolicy(policy, pod tree.Tree) verdict {
	name := pod.Object("metadata").String("namespace") + "/" + pod.Name()
	for i, rule := range policy.Objects("rules") {
		what := matchRule(rule, pod.Object("status"), name)
		if what == "" {
			continue
		}
		switch action := rule.String("action"); action {
		case "Ignore":
			return verdict{}
		case "FailIndex":
			return verdict{counts: true, failsIndex: true}
		case "FailJob":
			return verdict{counts: true, failsJob: fmt.Sprintf("%s matching %s rule at index %d", what, action, i)}
		case "Count":
			return verdict{counts: true}
		}
	}
	return verdict{counts: true}
}

// matchRule returns a description of the match for the Job's failure message, or "". Validation
// allows either exit codes or Pod conditions in a rule.
func matchRule(rule, status tree.Tree, name string) string {
	if codes := rule.Object("onExitCodes"); codes != nil {
		for _, list := range []string{"containerStatuses", "initContainerStatuses"} {
			for _, c := range status.Objects(list) {
				if code, ok := c.Object("state", "terminated").Int("exitCode"); ok && matchesCode(codes, c.String("name"), code) {
					return fmt.Sprintf("Container %s for pod %s failed with exit code %d", c.String("name"), name, code)
				}
			}
		}
		return ""
	}
	for _, c := range status.Objects("conditions") {
		for _, pattern := range rule.Objects("onPodConditions") {
			if c["type"] == pattern["type"] && c["status"] == pattern["status"] {
				return fmt.Sprintf("Pod %s has condition %s", name, c.String("type"))
			}
		}
	}
	return ""
}

// matchesCode reports whether a rule matches a container's exit code. Code 0 matches no rule, not
// even NotIn, because a container that succeeded is not the reason why the Pod failed.
func matchesCode(codes tree.Tree, container string, code int64) bool {
	if of := codes.String("containerName"); code == 0 || of != "" && of != container {
		return false
	}
	switch in := slices.Contains(codes.List("values"), any(code)); codes.String("operator") {
	case "In":
		return in
	case "NotIn":
		return !in
	}
	return false
}

// matchSuccess returns a message about the first successPolicy rule that the succeeded indexes
// meet, or "". If a rule has succeededIndexes, its succeededCount counts only those indexes.
func matchSuccess(policy tree.Tree, succeeded indexes, completions int) string {
	if len(succeeded) == 0 {
		return ""
	}
	for i, rule := range policy.Objects("rules") {
		count, counted := rule.Int("succeededCount")
		met := counted && succeeded.total() >= int(count)
		if rule.Has("succeededIndexes") {
			of := parseIndexes(rule.String("succeededIndexes"), completions)
			n := succeeded.overlap(of)
			met = len(of) > 0 && (n == of.total() || counted && n >= int(count))
		}
		if met {
			return fmt.Sprintf("Matched rules at index %d", i)
		}
	}
	return ""
}
