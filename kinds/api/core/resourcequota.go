package core

import (
	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// resourceQuotaStrategy keeps the status when a client writes the main resource. Otherwise a client
// could reset the usage and exceed its quota.
type resourceQuotaStrategy struct {
	schema.DefaultStrategy
	schema.KeepStatus
}

// validateQuotaResources accepts any qualified resource name, and object counts such as
// count/deployments.apps, so that quotas can limit custom resources.
func validateQuotaResources(amounts tree.Tree, path string, faults *schema.Faults) {
	for _, name := range amounts.SortedKeys() {
		at := tree.KeyPath(path, name)
		resourcelist.ValidateQuotaName(name, at, faults)
		resourcelist.ValidateQuantity(amounts, name, at, faults)
	}
}
