// Package params reads the parameters of requests: options of lists, watches, writes and deletes.
//
// Its nouns:
//
//	List    the parameters of list, watch and deletecollection: selectors, limit, versions
//	Write   those of create, update, patch and apply: dry run, field validation, field manager
//	Delete  DeleteOptions, which come in a query or in a body
//
// Parameters that do not go together are refused with every fault that they have, in one Status. What is parsed is
// made into a request for the store; nothing here asks the store, nor decides who may do it.
package params
