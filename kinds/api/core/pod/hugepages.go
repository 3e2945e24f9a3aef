package pod

import (
	"math/big"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A huge page amount must be a multiple of the page size, which is part of the resource name. Older
// servers accepted other amounts, so they remain valid if the previous spec contains any.

// validatePages validates the huge page amounts in a spec. v contains the spec, and the previous
// spec or nil.
func validatePages(v any, path string, faults *schema.Faults) {
	specs := tree.Tree{"": v}.Objects("")
	if asksForPartsOfPages(specs[1]) {
		return
	}
	visitResources(specs[0], path, func(name, text, at string) {
		if isPartOfPage(name, text) {
			faults.Invalid(at, text, text+" is not positive integer multiple of "+name)
		}
	})
}

func asksForPartsOfPages(spec tree.Tree) bool {
	found := false
	visitResources(spec, "", func(name, text, _ string) { found = found || isPartOfPage(name, text) })
	return found
}

func visitResources(spec tree.Tree, path string, visit func(name, amount, at string)) {
	look := func(r tree.Tree, at string) {
		for _, list := range []string{"limits", "requests"} {
			amounts := r.Object(list)
			for _, name := range amounts.SortedKeys() {
				visit(name, amounts.String(name), tree.KeyPath(at+"."+list, name))
			}
		}
	}
	look(spec.Object("resources"), path+".resources")
	for _, list := range []string{"containers", "initContainers"} {
		for i, c := range spec.Objects(list) {
			if r := c.Object("resources"); r != nil {
				look(r, tree.IndexPath(path+"."+list, i)+".resources")
			}
		}
	}
}

// isPartOfPage reports whether a huge page amount is not a multiple of the page size, or the page
// size is invalid.
func isPartOfPage(name, text string) bool {
	sizeText, huge := strings.CutPrefix(name, pages)
	if !huge {
		return false
	}
	size, err := quantity.Read(sizeText)
	if err != nil || size.Sign() <= 0 || !size.IsInteger() {
		return true
	}
	asked, err := quantity.Read(text)
	if err != nil {
		return false // a declarative rule reports it
	}
	n, _ := asked.RoundUp().Multiple(0)
	unit, _ := size.Multiple(0)
	return n == nil || unit == nil || new(big.Int).Rem(n, unit).Sign() != 0
}
