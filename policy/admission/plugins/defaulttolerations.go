package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// DefaultTolerationSeconds returns the plugin that lets Pods tolerate not-ready and unreachable
// nodes for a limited time, so that a short interruption does not evict all Pods of a node. The
// Pod's own tolerations take precedence.
func DefaultTolerationSeconds(naming *meta.Naming, notReadySeconds, unreachableSeconds int64) admission.Registration {
	return admission.Register("DefaultTolerationSeconds", defaultTolerations{
		{naming.Translate("node.platform.io/not-ready"), notReadySeconds},
		{naming.Translate("node.platform.io/unreachable"), unreachableSeconds},
	})
}

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
