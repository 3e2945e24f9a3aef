package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
)

// endpointsStrategy only warns: the declaration checks the addresses.
type endpointsStrategy struct {
	family.AlwaysWarns
	addresses warning.Addresses
	managedBy string // the label
}
