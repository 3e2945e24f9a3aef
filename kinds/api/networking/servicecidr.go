package networking

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

type serviceCIDRStrategy struct {
	schema.DefaultStrategy
	schema.EmptyStatusOnCreate
}
