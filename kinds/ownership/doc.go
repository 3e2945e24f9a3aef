// Package ownership decides who owns which fields of an object: it maintains metadata.managedFields on
// every write and carries out server-side apply.
//
// # Terms
//
// A Set is a set of paths in an object; a path is a list of path elements. A manager is somebody who has
// written to the object, with the Set of fields that it owns; managedFields is the list of all managers.
// Everything walks over the plan of a kind (package schema), which says how finely ownership is divided:
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
// FieldsV1 is the text of a Set, a JSON object that nests like the paths. A path that is in the set ends
// in an empty object. Where longer paths go through a path that is itself in the set, a member "." says so:
//
//	{"f:data":{".":{},"f:x":{}}}    the paths data and data.x
//
// Identity, version and type of an object (apiVersion, kind, name, namespace, uid, resourceVersion,
// generation, creationTimestamp, selfLink, managedFields) have no owner: the server sets them.
//
// # Writes
//
// Update compares the object before and after a write: what has changed becomes the writer's and is taken
// from all others. Apply merges a configuration into the object: the writer becomes an owner of all that
// the configuration names, beside others who want the same value; a different value is a conflict unless
// the apply is forced; what the writer named in its last apply and does not name any more is removed,
// unless somebody else owns it.
//
// Managers of other versions own fields of their version, so each comparison is made in the version of
// the manager that it is about.
//
// A definition may change how the objects of a custom kind are divided. Who owned a part of what is now
// owned as a whole then owns the whole, and conflicts with others who do. Where a definition declares
// nothing, objects are owned field by field and lists as a whole.
//
// A configuration may hold nulls, as nil (codec.DecodeConfig). They are paths of the applier's set, and
// they count as values in comparisons. The resulting object has the zero value there, or nothing. Objects of
// custom kinds may have nulls themselves, where their schema is nullable or open, and those are values as well.
//
// Of managers that update, ten are kept. Beyond that, the oldest ones of each version share one entry
// named ancient-changes (capUpdaters): without a limit, every client with a changing name would make the
// object larger for ever. The time of a manager is that of the last change that it made.
//
// Who writes the scale of an object sees only the owners of its replicas (Scale).
//
// # Speed
//
// Sets are larger than most changes, so they are read only where they must be. An entry that a write does
// not touch stays as it is, to the byte (overlaps looks at its text). What is parsed is remembered for a
// while (parseCache), because most objects share the text of their sets with others. The set of a new
// object or of a configuration is written as text without a Set in between (fieldsEncoder). An apply that
// changes nothing is mostly recognized from the stored bytes alone (IsNoOpApply).
//
// # Invariants
//
// No function changes a tree or a Set that it is given; results share memory with them. CheckConfig must
// have passed a configuration before it is applied: an item that is there twice has no path of its own.
package ownership
