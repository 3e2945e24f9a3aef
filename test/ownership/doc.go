// Package ownership compares kinds/ownership with the public implementation of managed fields and
// server-side apply: the same random writes on every kind, through every version, the status and the
// scale sub-resource, must result in the same objects and the same managedFields. For custom
// resources, random objects are written over HTTP while their definitions change list types and map
// types (scenario).
//
// Known differences, which come from the Go types of the public implementation or from chance:
//
//   - Converting the public types adds lists that are never omitted, so an applier that changes its
//     version cannot remove them there. Such histories end at that point (comparison.diverged).
//   - It iterates over versions in random order, and some orders restore fields that were given up.
//     The oracle may apply several times until the results agree (maxAttempts).
//   - An update through the scale sub-resource may leave two entries of one manager in managedFields
//     there. The entries are joined before comparing.
//   - Inside an item of an atomic list, it takes a field that is never omitted, and was not applied,
//     for a change; and autoscaling/v1 cannot represent empty messages. Such objects are not
//     generated (ObjectGenerator).
//   - When a definition makes an object without declared fields atomic, it keeps the managed fields
//     below. Here the managers then own the whole object, and conflict (untyped). It cannot apply
//     objects that are atomic at the root.
//   - It sets an empty object, list or null in place of what the applier gives up only with the next
//     identical apply (explicit), and the second of two applies that own nothing begins to manage an
//     object without managers.
//   - It leaves a null where no field is declared and an applier has given up all fields of an
//     object (withoutNulls).
package ownership
