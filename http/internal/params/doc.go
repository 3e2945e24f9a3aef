// Package params parses request parameters: options of lists, watches, writes, and deletes.
//
//	List    parameters of list, watch, and deletecollection: selectors, limit, versions
//	Write   parameters of writes: dry run, field validation, field manager
//	Delete  DeleteOptions, from the query or the request body
//
// All invalid parameters are reported together in one Status. The results become requests to the
// store.
package params
