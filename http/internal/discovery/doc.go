// Package discovery makes the documents that describe what is served: the lists of groups, versions and
// resources, the OpenAPI documents, the index of paths and the version.
//
// Its nouns:
//
//	Cache      makes the documents when they are asked for and the kinds have changed
//	Documents  all of them, for one generation of the catalogue
//	merger     puts what other servers serve into them, in the order that APIServices ask for
//
// All documents of one generation are made together, so that a client never sees a kind in one and not in
// another. They change only when a custom kind is defined, hence clients keep them and ask with the ETag
// whether theirs is still current: most answers are a 304.
package discovery
