// Package openapi generates OpenAPI documents: one of version 2 for all kinds, and one of version 3
// for each group and version.
//
//	Documents  the documents of one set of kinds, with the version 3 index
//	Document   one document; built on first use and kept gzip-compressed
//	object     JSON with ordered members; large parts are entries, built while they are written
//	dialect    the differences between versions
//	layout     the Protobuf fields of JSON members
//
// Invariants:
//
//   - The same kinds yield the same bytes.
//   - A document holds exactly the definitions that its paths refer to, each once.
//   - The hash of a document is that of its JSON form, in every format and compression.
//
// # Names
//
// Definitions are named after messages, <reversed domain>.api.<package>.<version>.<Name>, with the
// API group domain of the profile. Definitions of the group meta, and of values with a custom JSON
// form, are under <reversed domain>.apimachinery.pkg. A custom kind's definition is <reversed
// group>.<version>.<Kind>, and its nested messages are inlined. Extensions start with x- and the
// profile's vendor name:
//
//	group-version-kind            of a kind: list of {group, kind, version}; of an operation: one
//	action                        of an operation: get, list, post, put, patch, delete,
//	                              deletecollection, watch, watchlist
//	selectable-fields             of a custom kind: a list of {fieldPath}
//	list-type, list-map-keys      how a list merges on apply: atomic, set, or map by its keys
//	map-type                      atomic: the value is owned as a whole
//	patch-strategy                strategic merge patch: merge, replace, retainKeys
//	patch-merge-key               its merge key
//
// A field is required if the server rejects objects without it or always writes it. Only version 3
// has defaults and alternative types.
//
// # Formats
//
// A document is JSON, or Protobuf with the messages of the gnostic models (packages openapi.v2 and
// openapi.v3). In Protobuf, a member with an arbitrary name is a message with the name in field 1
// and the value in field 2. A value of any type is a message with YAML in field 2, written as JSON.
// layout.yaml lists the field numbers.
package openapi
