package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// controllerWarnings warns of the name of a new ReplicationController, and of a template that is new or
// changes. The name is looked at only once, as it cannot change.
func controllerWarnings(n *meta.Naming) family.WarnFunc {
	pods := pod.NewWarnings(n)
	return func(obj, old tree.Tree) (texts []string) {
		if old == nil {
			texts = warning.AppendHostName(texts, obj, "Pod names and hostnames")
		} else if !pod.Changes(obj, old) {
			return nil
		}
		return pods.AppendTemplate(texts, obj.Object("spec", "template"), "spec.template.")
	}
}
