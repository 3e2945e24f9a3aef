package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// DefaultTolerationSeconds lets Pods stay for some time on a node that is not ready, or cannot be reached,
// unless they say themselves what they do then. Nodes that are cut off get these taints, by which Pods
// without a toleration are evicted at once; a short interruption would then restart everything on the node.
func DefaultTolerationSeconds(naming *meta.Naming, notReadySeconds, unreachableSeconds int64) admission.Registration {
	return admission.Registration{
		Name: "DefaultTolerationSeconds", Resources: []string{"/pods"},
		Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, SkipsNoOps: true, Mutator: defaultTolerations{
			{naming.Translate("node.platform.io/not-ready"), notReadySeconds},
			{naming.Translate("node.platform.io/unreachable"), unreachableSeconds},
		}},
	}
}

// defaultTolerations are the taints that Pods tolerate by default, and for how many seconds.
type defaultTolerations []struct {
	taint   string
	seconds int64
}

// Handles implements request.Mutator.
func (defaultTolerations) Handles(*request.Attributes) bool { return true }

// Admit implements request.Mutator.
func (p defaultTolerations) Admit(a *request.Attributes) error {
	given := a.New.Object("spec").List("tolerations")
	for _, t := range p {
		if !toleratesExecution(given, t.taint) {
			appendItem(a.Edit("spec"), "tolerations", tree.Tree{
				"key": t.taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": t.seconds,
			})
		}
	}
	return nil
}

// toleratesExecution tells whether tolerations say anything about a taint by which Pods have to leave. An
// empty key or effect matches all. A toleration without seconds means for ever, and is respected.
func toleratesExecution(tolerations []any, taint string) bool {
	for _, item := range tolerations {
		t, _ := item.(tree.Tree)
		key, effect := t.String("key"), t.String("effect")
		if (key == taint || key == "") && (effect == "NoExecute" || effect == "") {
			return true
		}
	}
	return false
}
