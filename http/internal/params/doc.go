// Package params parses request parameters: options of lists, watches, writes, and deletes.
//
//	List    of list, watch, and deletecollection: selectors, limit, versions
//	Write   of create, update, patch, and apply: dry run, field validation, field manager
//	Delete  DeleteOptions, from query or body
//
// All invalid parameters are reported together in one Status. The results become requests to the
// store.
package params
