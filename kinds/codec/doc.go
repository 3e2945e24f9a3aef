// Package codec turns bytes into trees and trees into bytes: JSON, YAML and Protobuf,
// each a walk over the plan of a kind.
//
// Nouns: a Tree is a decoded object (package schema says how values look in it); a
// FieldFault is a field that a body has too much; an Encoded is the JSON form of an
// object with a Slot for its resourceVersion; a Place is where stored bytes belong.
//
// Decoding JSON goes over the bytes once. The text of the tree is cut from one copy of
// the body, keys are those of the plan. Malformed input ends decoding at once; a value
// of the wrong type is remembered (the first one wins) and the rest is still read, so
// that malformed input is reported first. The wording of both is that of Go's decoder,
// which clients of this API know. Unknown and duplicate fields are no errors: they are
// dropped (of duplicates the last one stays) and reported, at most 100 of them.
//
// Encoding writes the fields in the order of the plan and the keys of maps sorted. Text
// is escaped as Go does it for HTML: <, >, &, U+2028 and U+2029 as \u escapes.
// An object begins with
//
//	{"kind":"…","apiVersion":"…","metadata":{…,"resourceVersion":"",…
//
// and Encoded.Slot is the offset between the last two quotes. Field by field:
//
//	Always    written even when absent: "" 0 false {} "0" and null for lists, maps, times, bytes and raw values
//	Pointer   written when present, also when zero
//	neither   written unless zero or empty; messages, times, quantities and int-or-strings when present
//
// # Protobuf
//
// A body is 6b 38 73 00 followed by the message Unknown: 1 typeMeta {1 apiVersion, 2
// kind}, 2 raw, 3 contentEncoding, 4 contentType. raw is the object. Fields are written
// in the order of their numbers, keys of maps sorted, with these special messages:
//
//	Time, MicroTime  {1: seconds, 2: nanoseconds}, both always written; empty when absent
//	Duration         {1: nanoseconds}
//	Quantity         {1: text}
//	IntOrString      {1: 0 number or 1 text, 2: number, 3: text}, all always written
//	Raw              {1: JSON bytes}
//
// Inlined messages nest by the numbers in Field.Wire and are written even when empty.
//
// Invariants: arbitrary bytes never panic; nothing that comes in nests deeper than 256 levels, counted
// as in JSON (what is stored already may have 10,000); what
// a decoder allocates is bounded by a small multiple of its input; a tree that is passed
// in is never changed.
package codec
