package family

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Kind is the part of a kind that its declaration cannot express.
type Kind struct {
	Name     string          // "group/version/Kind" in platform form; "" is the core group
	Strategy schema.Strategy // nil: the default
	Views    Views           // how subresources read and write the object
}

// Views are views by subresource name. Status and declared scales have default views.
type Views map[string]schema.View
