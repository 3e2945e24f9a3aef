package core

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type serviceAccountStrategy struct {
	schema.DefaultStrategy
	key string // of the annotation
}

// Warnings warns about a deprecated annotation when it is added. Other writers of the account, such
// as the token controller, did not choose it.
func (s serviceAccountStrategy) Warnings(obj, old tree.Tree) []string {
	_, given := obj.Object("metadata", "annotations")[s.key]
	if _, had := old.Object("metadata", "annotations")[s.key]; !given || had {
		return nil
	}
	return []string{tree.KeyPath("metadata.annotations", s.key) +
		": deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"}
}
