package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// DefaultTolerationSeconds returns the registration of the plugin that lets Pods stay for a time on
// nodes that are not ready or unreachable. Without it a short interruption would evict all Pods of
// a node. Tolerations of the Pod win.
func DefaultTolerationSeconds(naming *meta.Naming, notReadySeconds, unreachableSeconds int64) admission.Registration {
	return admission.Register("DefaultTolerationSeconds", defaultTolerations{
		{naming.Translate("node.platform.io/not-ready"), notReadySeconds},
		{naming.Translate("node.platform.io/unreachable"), unreachableSeconds},
	})
}

// defaultTolerations lists the tolerated taints with their seconds.
type defaultTolerations []struct {
	taint   string
	seconds int64
}

func (defaultTolerations) Handles(*request.Attributes) bool { return true }

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

// toleratesExecution reports whether any toleration covers the NoExecute taint. An empty key or
// effect matches all, and missing seconds mean forever.
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
