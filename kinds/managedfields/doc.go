// Package managedfields tracks which manager owns which fields of an object. It maintains
// metadata.managedFields on every write and implements server-side apply.
//
// # Terms
//
// A Set is a set of paths in an object; a path is a list of path elements. A manager is a writer of
// the object, with the Set of fields that it owns; managedFields lists all managers. The plan of a
// kind (package schema) says how finely ownership is divided:
//
//	scalars, atomic lists, maps and messages, values without plan  as a whole
//	messages                                                       field by field
//	maps                                                           key by key
//	lists of type set                                              value by value
//	lists of type map                                              item by item, and the items field by field
//
// The path elements and their text:
//
//	f:name               a field of a message, or a key of a map
//	k:{"name":"c"}       the item of a list with these keys, sorted by name
//	v:"x"                a value of a set
//	i:0                  an item by its index; clients may send it, the server never writes it
//
// FieldsV1 is the text of a Set, a JSON object that nests like the paths. A path in the set ends in
// an empty object, or has a member "." if longer paths go through it:
//
//	{"f:data":{".":{},"f:x":{}}}    the paths data and data.x
//
// The fields that the server sets have no owner: apiVersion, kind, name, namespace, uid,
// resourceVersion, generation, creationTimestamp, selfLink and managedFields.
//
// # Writes
//
// Update compares the object before and after a write. The writer becomes the sole owner of all
// changes.
//
// Apply merges a configuration into the object. The writer becomes an owner of everything that the
// configuration names, together with others that want the same value. A different value is a
// conflict unless the apply is forced. Fields that the writer's last apply named and this one does
// not are removed, unless another manager owns them.
//
// Managers own fields of their version, so each comparison is made in the version of its manager.
//
// A CRD update may change how objects are divided. The owner of a part of what is now atomic then
// owns the whole, and conflicts with other such owners. Without declarations, objects are owned
// field by field and lists as a whole.
//
// A configuration may contain nulls, as nil (codec.DecodeConfig). They are paths of the applier's
// set and count as values in comparisons. The resulting object has the zero value there, or
// nothing. In objects of custom kinds whose schema is nullable or open, nulls are values
// themselves.
//
// Ten update managers are kept. Beyond that, the oldest ones of each version share an entry named
// ancient-changes (capUpdaters), because clients with changing names would otherwise grow the
// object forever. The time of a manager is that of its last change.
//
// Writers of the scale subresource see only the owners of the replicas (Scale).
//
// # Performance
//
// Sets are larger than most changes, so they are parsed only if necessary. Entries that a write
// does not touch keep their bytes (overlaps examines their text). Parsed sets are cached
// (parseCache), because most objects share texts with others. The set of a new object or
// configuration is written directly as text (fieldsEncoder). Most no-op applies are recognized from
// the stored bytes (IsNoOpApply).
//
// # Invariants
//
// Functions do not change their input trees and Sets; results share memory with them. A
// configuration must pass CheckConfig before it is applied, because duplicate items have no path of
// their own.
package managedfields
