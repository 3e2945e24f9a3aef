package core

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/schema"
)

// endpointsStrategy only warns: the declaration checks the addresses.
type endpointsStrategy struct {
	schema.AlwaysWarns
	addresses warning.Addresses
	managedBy string // the label
}
