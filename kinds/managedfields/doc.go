// Package managedfields tracks which manager owns which fields of an object. It maintains
// metadata.managedFields on every write and implements server-side apply.
//
// # Terms
//
// A Set is a set of paths in an object. A path is a list of path elements. A manager owns a Set of
// fields. The kind's plan (package schema) defines the granularity of ownership:
//
//	scalars, atomic values, values without plan  as a whole
//	messages                                     field by field
//	maps                                         key by key
//	lists of type set                            value by value
//	lists of type map                            item by item, and the items field by field
//
// The path elements and their text:
//
//	f:name               a field of a message, or a key of a map
//	k:{"name":"c"}       the item of a list with these keys, sorted by name
//	v:"x"                a value of a set
//	i:0                  an item by its index; clients may send it, the server never writes it
//
// FieldsV1 encodes a Set as a JSON object that nests like the paths. A path in the Set ends in an
// empty object. If there are also paths below it, a member "." marks the path itself:
//
//	{"f:data":{".":{},"f:x":{}}}    the paths data and data.x
//
// Fields that the server sets have no owner: apiVersion, kind, name, namespace, uid,
// resourceVersion, generation, creationTimestamp, selfLink and managedFields.
//
// # Writes
//
// Update compares the object before and after a write. The writer becomes the sole owner of all
// changed fields.
//
// Apply merges a configuration into the object. The writer becomes an owner of every field in the
// configuration, together with managers that set the same value. A different value is a conflict
// unless the apply is forced. Fields that are missing since the writer's last apply are removed,
// unless another manager owns them.
//
// Objects are compared in each manager's API version, because a Set contains paths of that version.
//
// A CRD update may change the granularity. If a value becomes atomic, the owners of its fields and
// items own the value and conflict with each other. Objects without a schema are owned field by
// field, and their lists as a whole.
//
// The applier owns the paths of nulls in a configuration, and comparisons treat nulls as values. In
// the resulting object, a null becomes the zero value or is removed. Custom objects keep nulls if
// the schema is nullable or absent.
//
// At most ten update managers are kept. Older ones are merged per version into an entry named
// ancient-changes, so that clients with changing names do not grow the object forever.
//
// Sets are larger than most changes, so they are parsed only if necessary (overlaps) and cached
// (parseCache). Most no-op applies are recognized from the stored bytes (IsNoOpApply).
//
// # Invariants
//
// Functions do not change their input trees and Sets, and results share memory with them. A
// configuration must pass CheckConfig before it is applied, because duplicate items have no path of
// their own.
package managedfields
