// Package openapi describes kinds to clients: one OpenAPI document of version 2 about
// everything, and one of version 3 for each group and version, made from the plan.
//
// Its nouns:
//
//	Documents  those of one set of kinds, with the index of version 3
//	Document   one of them; made when it is first asked for, kept gzip-compressed only
//	object     JSON with its members in order; a document is one, its large parts are
//	           entries that are made one by one while they are written
//	dialect    what differs between the versions
//	layout     where each member goes in Protobuf
//
// What always holds:
//   - A document is made of kinds that are handed in, never of globals, and is a pure
//     function of them: the same kinds make the same bytes.
//   - A document holds the definitions that its paths lead to, each once, and no other.
//   - The hash of a document is that of its JSON form, in every format and compressed or not.
//
// # Names
//
// Definitions are named after messages: <domain backwards>.api.<package>.<version>.<Name>,
// with the domain of the profile's API groups; those of the group meta, and of values with a
// JSON form of their own, are under <domain backwards>.apimachinery.pkg. The definition of
// a custom kind is <group backwards>.<version>.<Kind>, its parts are not named.
// Extensions begin with x- and the profile's word:
//
//	group-version-kind            of a kind: a list of {group, kind, version}; of an operation: one
//	action                        of an operation: get, list, post, put, patch, delete, deletecollection, watch, watchlist
//	selectable-fields             of a custom kind: a list of {fieldPath}
//	list-type, list-map-keys      how a list merges on apply: atomic, set, or map by its keys
//	map-type                      atomic: the value is owned as a whole
//	patch-strategy                merge, replace, retainKeys: how a strategic merge patch changes the field
//	patch-merge-key               and by what key
//
// A field is required if the server refuses an object without it, or writes it however
// empty it is. Defaults, and alternatives of types, are told in version 3 only.
//
// # Formats
//
// JSON, or the Protobuf messages of the gnostic models (packages openapi.v2 and openapi.v3).
// Members of free names are messages of a name (1) and a value (2) there, values of any
// type are messages with YAML text (2), for which JSON is used. layout.yaml lists the numbers.
package openapi
