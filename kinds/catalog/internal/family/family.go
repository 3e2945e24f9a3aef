package family

import "github.com/troupe-api/troupe/kinds/schema"

// A Kind holds the functions of one kind for what its declaration cannot say. What is left
// out does not apply to the kind.
type Kind struct {
	Name       string            // "group/version/Kind" in platform form; the core group is ""
	Rules      schema.Rules      // defaults, preparation, validation, warnings
	Conversion schema.Conversion // from and to the stored version, for the kinds that are not stored themselves
	Views      Views             // how sub-resources read and write the object
}

// Views are the views of sub-resources by the names of the sub-resources. Status, and a
// sub-resource with a declared scale, need one only where they do more than those of all kinds.
type Views map[string]schema.View
