package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// workloadWarnings finds what is to be warned of in workloads, mostly in their templates.
type workloadWarnings struct{ pods *pod.Warnings }

// appendTemplate warns of the template of a workload.
func (w workloadWarnings) appendTemplate(texts []string, obj tree.Tree) []string {
	return w.pods.AppendTemplate(texts, obj.Object("spec", "template"), "spec.template.")
}

// warnNamed warns of a workload whose name becomes part of host names.
func (w workloadWarnings) warnNamed(obj, old tree.Tree) (texts []string) {
	if old == nil {
		texts = warning.AppendHostName(texts, obj, "Pod names and hostnames")
	} else if !pod.Changes(obj, old) {
		return nil
	}
	return w.appendTemplate(texts, obj)
}

// warnDaemonSet warns only where the template itself changes.
//
// The other workloads warn of each change of their spec; clients expect this difference.
func (w workloadWarnings) warnDaemonSet(obj, old tree.Tree) []string {
	if old != nil && (!pod.Changes(obj, old) || tree.SemanticEqual(obj.Object("spec")["template"], old.Object("spec")["template"])) {
		return nil
	}
	return w.appendTemplate(nil, obj)
}

// warnStatefulSet warns of claims and of the history in every write.
func (w workloadWarnings) warnStatefulSet(obj, old tree.Tree) (texts []string) {
	claim := "" // how the path of a claim goes on
	if old != nil {
		claim = ".Spec"
	}
	if pod.Changes(obj, old) {
		texts = w.appendTemplate(texts, obj)
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
