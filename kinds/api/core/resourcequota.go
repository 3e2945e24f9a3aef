package core

import (
	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// resourceQuotaStrategy keeps the status in writes of the main resource: a client that resets the
// usage could exceed its limits.
type resourceQuotaStrategy struct {
	schema.DefaultStrategy
	schema.KeepStatus
}

// validateQuotaResources accepts any qualified resource name and counts such as
// count/deployments.apps, so that custom resources can be limited.
func validateQuotaResources(amounts tree.Tree, path string, faults *schema.Faults) {
	for _, name := range amounts.SortedKeys() {
		at := tree.KeyPath(path, name)
		resourcelist.ValidateQuotaName(name, at, faults)
		resourcelist.ValidateQuantity(amounts, name, at, faults)
	}
}
