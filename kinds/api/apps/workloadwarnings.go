package apps

import (
	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A NamedWorkload is the strategy of a workload whose name becomes part of host names.
type NamedWorkload struct{ pod.TemplateStrategy }

// Warnings warns about the name of a new object, and about a new or changed template.
func (w NamedWorkload) Warnings(obj, old tree.Tree) (texts []string) {
	if old == nil {
		texts = warning.AppendHostName(texts, obj, "Pod names and hostnames")
	} else if !pod.Changes(obj, old) {
		return nil
	}
	return w.AppendWarnings(texts, obj)
}

// Warnings warns only about changes of the template. As in kube-apiserver, other workloads warn
// about any change of their spec.
func (s daemonSetStrategy) Warnings(obj, old tree.Tree) []string {
	if old != nil && (!pod.Changes(obj, old) || tree.SemanticEqual(obj.Object("spec")["template"], old.Object("spec")["template"])) {
		return nil
	}
	return s.AppendWarnings(nil, obj)
}

// Warnings warns about claims and the revision history in every write.
func (s statefulSetStrategy) Warnings(obj, old tree.Tree) (texts []string) {
	claim := "" // continuation of the path of a claim
	if old != nil {
		claim = ".Spec"
	}
	if pod.Changes(obj, old) {
		texts = s.AppendWarnings(texts, obj)
	}
	spec := obj.Object("spec")
	for i, v := range spec.List("volumeClaimTemplates") {
		template, _ := v.(tree.Tree)
		for _, text := range warning.ClaimSizes(template.Object("spec")) {
			texts = append(texts, tree.IndexPath("spec.volumeClaimTemplates", i)+claim+text)
		}
	}
	if n, _ := spec.Int("revisionHistoryLimit"); n < 0 {
		texts = append(texts, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
	return texts
}
