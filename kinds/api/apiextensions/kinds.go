package apiextensions

import (
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of the group with their strategies. isBuiltIn reports whether a group has
// built-in kinds, which CRDs may not join.
func Kinds(n *meta.Naming, compiler *crd.Compiler, isBuiltIn func(group string) bool) []schema.Behavior {
	return []schema.Behavior{
		{Name: "apiextensions.platform.io/v1/CustomResourceDefinition", Strategy: newDefinitionStrategy(n, compiler, isBuiltIn)},
	}
}
