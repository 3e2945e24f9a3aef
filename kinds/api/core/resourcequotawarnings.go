package core

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns about a new quota whose requests exceed its limits, which then cannot be used up.
// "cpu" and "memory" without a prefix mean requests; storage has no such short form.
func (resourceQuotaStrategy) Warnings(obj, old tree.Tree) (texts []string) {
	if old != nil {
		return nil
	}
	hard := obj.Object("spec", "hard")
	for _, resource := range [...]struct{ name, short string }{{"cpu", "cpu"}, {"memory", "memory"}, {name: "storage"}, {name: "ephemeral-storage"}} {
		request, limit := "requests."+resource.name, "limits."+resource.name
		if !hard.Has(request) && resource.short != "" {
			request = resource.short
		}
		if hard.Has(request) && hard.Has(limit) && quantity.Compare(hard.String(request), hard.String(limit)) > 0 {
			texts = append(texts, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)",
				request, hard.String(request), limit, hard.String(limit)))
		}
	}
	return texts
}
