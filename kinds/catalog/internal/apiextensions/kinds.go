package apiextensions

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds lists the kinds of apiextensions with their functions. isBuiltIn tells whether a group is one
// of built-in kinds, which definitions may not join.
func Kinds(n *meta.Naming, compiler *custom.Compiler, isBuiltIn func(group string) bool) []family.Kind {
	warnFormats, warnLost := definitionWarnings(n), warnLostFields(n)
	warn := func(obj, old tree.Tree) []string { return append(warnFormats(obj, old), warnLost(obj, old)...) }
	return []family.Kind{
		{Name: "apiextensions.platform.io/v1/CustomResourceDefinition", Rules: family.WarnChanges(definitionRules(n, compiler, isBuiltIn), warn)},
	}
}
