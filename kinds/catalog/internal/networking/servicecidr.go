package networking

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/schema"
)

type serviceCIDRStrategy struct {
	schema.DefaultStrategy
	family.EmptyStatusOnCreate
}
