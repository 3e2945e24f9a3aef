package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// serviceAccountWarnings warns of a deprecated annotation when it is added. An account that has the
// annotation already is not reported: its other writers, such as the token controller, did not choose it.
func serviceAccountWarnings(n *meta.Naming) family.WarnFunc {
	key := n.Translate("platform.io/enforce-mountable-secrets")
	text := tree.KeyPath("metadata.annotations", key) +
		": deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
	return func(obj, old tree.Tree) []string {
		_, given := obj.Object("metadata", "annotations")[key]
		if _, had := old.Object("metadata", "annotations")[key]; !given || had {
			return nil
		}
		return []string{text}
	}
}
