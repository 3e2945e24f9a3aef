package catalog

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// conversionsOf lists the ways between the forms of kinds that share a storage, by
// "group/version/Kind" in platform form. The stored form needs none.
func conversionsOf(*meta.Naming) map[string]schema.Conversion {
	return map[string]schema.Conversion{}
}
