package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
)

// endpointsStrategy has nothing about addresses: their format is declared.
type endpointsStrategy struct {
	family.AlwaysWarns
	addresses warning.Addresses
	managedBy string // the label
}
