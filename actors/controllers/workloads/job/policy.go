package job

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A verdict is what a failed Pod means for its Job.
// The zero verdict is that of a failure which is ignored: the Pod is replaced, but counts towards no limit.
type verdict struct {
	counts     bool   // towards the limits
	failsIndex bool   // its index is not tried again
	failsJob   string // why the whole Job fails; "" if it does not
}

// evaluateFailurePolicy finds the first rule of a podFailurePolicy that a failed Pod matches. Without one it counts.
// The order of rules matters: users put the exceptions first and the general rule last. A rule with an unknown action is
// passed over, since a newer version of the API may have added one.
func evaluateFailurePolicy(policy, pod tree.Tree) verdict {
	name := pod.Object("metadata").String("namespace") + "/" + pod.Object("metadata").String("name")
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

// matchRule tells what of a Pod a rule matches; "" for nothing.
// A rule has either exit codes or Pod conditions; validation refuses both together. The text becomes part of the message
// of the condition with which the Job fails.
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

// matchesCode tells whether an exit code of a container is one that a rule is about. Code 0 never matches, not even
// NotIn: a container that succeeded is not the reason why its Pod failed.
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

// matchSuccess is which rule of a successPolicy the indexes that have succeeded fulfil; "" for none.
// A rule with both succeededIndexes and succeededCount asks for that many of those indexes; one with succeededCount
// alone counts all indexes. The rules are alternatives, and the first that is met ends the Job.
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
