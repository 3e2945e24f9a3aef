package family

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Kind is the part of one kind that its declaration cannot express.
type Kind struct {
	Name     string          // "group/version/Kind" in platform form; the core group is ""
	Strategy schema.Strategy // nil: the default
	Views    Views           // how sub-resources read and write the object
}

// Views are the views of sub-resources by the names of the sub-resources. Status, and a
// sub-resource with a declared scale, need one only where they do more than those of all kinds.
type Views map[string]schema.View
