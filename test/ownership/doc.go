// Package ownership holds kinds/ownership against the public implementation of managed
// fields and server-side apply: the same writes, made at random on every kind, through every
// version, the status and the scale, must leave the same objects and the same owners.
// Objects of kinds that are defined at random are written over HTTP, while their definitions
// change how they are owned (scenario).
//
// What the public code does because of its Go types, or by chance, is not asked for:
//
//   - A conversion of the public types makes lists that are always written, so that an applier
//     who changes its version cannot drop them there. Histories that come to that end (stayed).
//   - It goes over the versions in no order, and some orders bring back what was given up: the
//     oracle may try until it agrees (tries).
//   - It gives those who update an object back from its scale as others, so that they are there
//     twice; whoever reads both keeps one. Here they are joined.
//   - It takes a field that it always writes, and that is not applied in an item of an atomic
//     list, for a change; and version v1 of an autoscaler knows no empty messages. Such objects
//     are not made (Maker).
//   - It leaves owners as they are where a definition now says that an object without declared fields is
//     owned as a whole: here they own the whole, and conflict (untyped). An object that is owned as a whole
//     from its root on it cannot apply.
//   - It leaves a null where nothing is declared and an applier has given up all that an object had
//     (withoutNulls).
package ownership
