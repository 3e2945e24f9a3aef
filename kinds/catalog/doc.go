// Package catalog lists all kinds. Built-in kinds are compiled from the declarations of package
// api. A kind that needs code also has a schema.Strategy. CustomResourceDefinitions add kinds at
// run time.
//
// Each API group has a package, such as api/batch, whose function Kinds returns the group's
// strategies.
//
// A Catalog is safe for concurrent use. Kinds and messages are shared and immutable.
package catalog
