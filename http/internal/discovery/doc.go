// Package discovery builds the documents that describe the served API: groups, versions, resources,
// OpenAPI, the path index, and the server version.
//
//	Cache      rebuilds the documents on demand after kinds have changed
//	Documents  all documents of one catalog generation
//	merger     merges the APIs of aggregated servers, in the order of their APIServices
//
// All documents of a generation are built together, so they contain the same kinds. They change
// only when custom kinds change. Clients therefore cache them by ETag, and most responses are 304.
package discovery
