// Package ownership decides who owns which fields of an object: it keeps the managed
// fields of every write, and carries out server-side apply.
//
// A Set is a set of paths in an object; a path is a list of steps. A Manager is one who has
// written to the object, with the Set that is his; the managers of an object are its
// metadata.managedFields. Everything walks over the plan of a kind (package schema),
// which says what is owned as a whole, and what part by part:
//
//	scalars, atomic lists, maps and messages, values without plan  as a whole
//	messages                                                       field by field
//	maps                                                           key by key
//	lists of type set                                              value by value
//	lists of type map                                              item by item, and the items field by field
//
// The steps of a path and their text:
//
//	f:name               a field of a message, or a key of a map
//	k:{"name":"c"}       the item of a list with these keys, sorted by name
//	v:"x"                a value of a set
//	i:0                  an item by its place; never made here
//
// FieldsV1 is the text form of a Set, a JSON object that nests like the paths. A path that is
// in the set ends in an empty object; where longer paths go through it, it is marked by a
// member ".":
//
//	{"f:data":{".":{},"f:x":{}}}    the paths data and data.x
//
// Identity, version and type of an object (apiVersion, kind, name, namespace, uid,
// resourceVersion, generation, creationTimestamp, selfLink, managedFields) are owned by nobody.
//
// Definitions of custom kinds change how their objects are owned: who owned a part of what is owned as a
// whole now owns the whole since the next write, and conflicts. Where a definition declares nothing, objects are
// owned field by field and lists as a whole; an object in whose place comes a text loses its fields.
//
// A configuration may hold nulls, as nil (codec.DecodeConfig): they are paths of the applier's set, and
// values in a comparison. The object that is made has the zero value, or nothing, in their place.
//
// A set is only read when a write touches what it may hold, or its manager writes: most writes
// leave the entries of others as they are, to the byte. What is read is first brought in line
// with today's plan (Reconciled), and remembered for a while (memory): most objects share the
// texts of their sets with others. What a new object or a configuration has is written as text
// without any set (inventory), and a text that stays is not read. That an apply changes nothing is
// mostly seen in the object's bytes (Stands). Who writes a
// scale sees the owners of its object's replicas, and no others (Scale).
//
// Of those who update, ten are kept: beyond, the oldest of a version share one entry, named
// ancient-changes (cap). The time of a manager is that of the last change that was his.
//
// Nothing here changes a tree or a Set that it is given; results share with them.
package ownership
