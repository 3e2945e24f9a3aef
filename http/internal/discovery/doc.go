// Package discovery builds the documents that describe what is served: groups, versions, resources,
// OpenAPI, the index of paths, and the version.
//
//	Cache      builds the documents on demand after kinds have changed
//	Documents  all documents of one generation of the catalog
//	merger     merges what other servers serve, in the order of APIServices
//
// All documents of a generation are built together, so that a kind is never in one and missing from
// another. They change only with custom kinds, so clients cache them by ETag, and most responses
// are 304.
package discovery
