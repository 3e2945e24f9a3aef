package warning

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// NodeLabels maps deprecated node labels to warnings. Nodes still have most of them, but Pods that
// select by them will become unschedulable.
type NodeLabels map[string]string

// NewNodeLabels returns the labels in the names of a profile.
func NewNodeLabels(n *meta.Naming) NodeLabels {
	labels := NodeLabels{
		n.Translate("app.platform.io/created-by"):                  "deprecated since v1.9",
		n.Translate("scheduler.alpha.platform.io/preferAvoidPods"): "deprecated since v1.22; use Taints and Tolerations instead",
	}
	replace := func(old, since, name string) {
		labels[n.Translate(old)] = fmt.Sprintf("%suse %q instead", since, n.Translate(name))
	}
	replace("beta.platform.io/arch", "deprecated since v1.14; ", "platform.io/arch")
	replace("beta.platform.io/os", "deprecated since v1.14; ", "platform.io/os")
	replace("beta.platform.io/instance-type", "deprecated since v1.17; ", "node.platform.io/instance-type")
	replace("failure-domain.beta.platform.io/region", "deprecated since v1.17; ", "topology.platform.io/region")
	replace("failure-domain.beta.platform.io/zone", "deprecated since v1.17; ", "topology.platform.io/zone")
	replace("node-role.platform.io/master", "", "node-role.platform.io/control-plane")
	return labels
}

// uses reports whether any label is a key of m. Keys need sorting only if there are warnings.
func (l NodeLabels) uses(m tree.Tree) bool {
	for key := range m {
		if l[key] != "" {
			return true
		}
	}
	return false
}

// AppendKeys warns about the keys of m, sorted. path formats the path of a key.
func (l NodeLabels) AppendKeys(texts []string, m tree.Tree, path func(key string) string) []string {
	if !l.uses(m) {
		return texts
	}
	for _, key := range m.SortedKeys() {
		if text := l[key]; text != "" {
			texts = append(texts, path(key)+": "+text)
		}
	}
	return texts
}

// AppendTerms warns about the node selector terms in a list at path.
func (l NodeLabels) AppendTerms(texts []string, terms []any, path Path) []string {
	for i, v := range terms {
		term, _ := v.(tree.Tree)
		texts = l.appendExpressions(texts, term, path, i, "", false)
	}
	return texts
}

// AppendPreferences warns about the preferred node selector terms in a list at path. It also warns
// about invalid values, which are not validated.
func (l NodeLabels) AppendPreferences(texts []string, preferences []any, path Path) []string {
	for i, v := range preferences {
		preference, _ := v.(tree.Tree)
		texts = l.appendExpressions(texts, preference.Object("preference"), path, i, ".preference", true)
	}
	return texts
}

// appendExpressions warns about the expressions of the term at path[i]suffix.
func (l NodeLabels) appendExpressions(texts []string, term tree.Tree, path Path, i int, suffix string, values bool) []string {
	for j, v := range term.List("matchExpressions") {
		expression, _ := v.(tree.Tree)
		key := expression.String("key")
		if text := l[key]; text != "" {
			texts = append(texts, fmt.Sprintf("%s%s.matchExpressions[%d].key: %s is %s", path.Index(i), suffix, j, key, text))
		}
		if !values {
			continue
		}
		for k, v := range expression.List("values") {
			value, _ := v.(string)
			for _, msg := range rules.LabelValue(value) {
				texts = append(texts, fmt.Sprintf("%s%s.matchExpressions[%d].values[%d]: %s is invalid, %s",
					path.Index(i), suffix, j, k, value, msg))
			}
		}
	}
	return texts
}

// AppendSelector warns about a label selector of nodes at path.
func (l NodeLabels) AppendSelector(texts []string, selector tree.Tree, path string) []string {
	for i, v := range selector.List("matchExpressions") {
		expression, _ := v.(tree.Tree)
		if text := l[expression.String("key")]; text != "" {
			texts = append(texts, fmt.Sprintf("%s.matchExpressions[%d].key: %s is %s", path, i, expression.String("key"), text))
		}
	}
	return l.AppendKeys(texts, selector.Object("matchLabels"), func(key string) string { return path + ".matchLabels." + key })
}
