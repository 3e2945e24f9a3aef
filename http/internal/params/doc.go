// Package params parses request parameters: options of lists, watches, writes, and deletes.
//
//	List    parameters of list, watch, and deletecollection: selectors, limit, versions
//	Write   parameters of writes: dry run, field validation, field manager
//	Delete  DeleteOptions, from the query or the request body
//
// One Status reports all invalid parameters. The results become requests to the store.
package params
