package apiregistration

import (
	"github.com/troupe-api/troupe/kinds/api/internal/webhook"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// apiServiceStrategy accepts an invalid CA bundle if it is unchanged, so that other fields can be
// updated.
type apiServiceStrategy struct{ schema.DefaultStrategy }

func (apiServiceStrategy) AllowsUnqualifiedFinalizers() bool { return true }

func (apiServiceStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if known := []string{old.Object("spec").String("caBundle")}; spec.Has("service") {
		webhook.ValidateCABundle(spec.String("caBundle"), known, "spec.caBundle", faults)
	}
}

// Prepare sets the status of a new APIService. A local APIService, which has no Service, is
// Available immediately. Others become available only after a health check.
func (apiServiceStrategy) Prepare(obj, old tree.Tree) {
	if old != nil {
		obj.CopyField(old, "status")
		return
	}
	obj["status"] = tree.Tree{}
	if !obj.Object("spec").Has("service") {
		obj["status"] = tree.Tree{"conditions": []any{tree.Tree{
			"type": "Available", "status": "True", "reason": "Local", "message": "Local APIServices are always available",
			"lastTransitionTime": obj.Object("metadata")["creationTimestamp"],
		}}}
	}
}
