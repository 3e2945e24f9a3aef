// Package codec turns bytes into trees and trees into bytes: JSON, YAML, Protobuf and CBOR, each by a walk over
// the plan of a kind (schema.Message).
//
// Terms: a tree.Tree is a decoded object (package tree says how values look in it); a FieldFault is an
// unknown or duplicate field of a body; an Encoded is the JSON of an object with the offset at which its
// resourceVersion is to be put in; an ObjectRef names the object that stored bytes hold.
//
// # What to read first
//
//	decode.go     DecodeJSON and its relatives; decoder.go is the walk
//	conform.go    the same checks for a tree that a patch has made
//	encode.go     EncodeJSON and its relatives; encoder.go is the walk
//	readback.go   the check before bytes are stored, and again on recovery
//	wire.go       the plan as Protobuf sees it; wire_decode.go makes trees of it, wire_encode.go makes it of JSON
//	cbor.go       heads and tags of CBOR; cbor_decode.go makes trees of it, cbor_encode.go makes it of JSON
//
// # Decoding
//
// JSON is read in one pass. The strings of the tree are parts of one copy of the body, keys are those of
// the plan, so that a small object costs few allocations. Malformed input ends decoding at once. A value
// of a wrong type is remembered (the first one counts) and the rest is still read, so that malformed
// input is reported first, as Go's decoder does; the wording is Go's as well, because clients of this API
// know it. Unknown and duplicate fields are no errors here: they are dropped (of duplicates the last one
// stays) and reported, at most 100 of them. What the server answers to them is a parameter of the request.
//
// # Encoding
//
// Fields are written in the order of the plan and the keys of maps sorted, so that equal objects have
// equal bytes: a write that changes nothing is recognized by them, and hashes and caches rely on it. Text
// is escaped as package jsontext says. An object begins with
//
//	{"kind":"…","apiVersion":"…","metadata":{…,"resourceVersion":"",…
//
// and Encoded.VersionOffset is the offset between the last two quotes: the version is known only when the
// object is committed, long after it was encoded. Field by field:
//
//	EmitEmpty  written even when absent: "" 0 false {} "0" and null for lists, maps, times, bytes and raw values
//	Pointer    written when present, also when zero
//	neither    written unless zero or empty; messages, times, quantities and int-or-strings when present
//
// # Protobuf
//
// A body is 6b 38 73 00 followed by the message Unknown: 1 typeMeta {1 apiVersion, 2 kind}, 2 raw,
// 3 contentEncoding, 4 contentType. raw is the object. Fields are written in the order of their numbers,
// keys of maps sorted, with these special messages:
//
//	Time, MicroTime  {1: seconds, 2: nanoseconds}, both always written; empty when absent
//	Duration         {1: nanoseconds}
//	Quantity         {1: text}
//	IntOrString      {1: 0 number or 1 text, 2: number, 3: text}, all always written
//	Raw              {1: JSON bytes}
//
// Inlined messages nest by the numbers in Field.Wire and are written even when empty.
//
// # CBOR
//
// An item (RFC 8949) is a head, which holds the type and a number, and what that number counts:
//
//	d9 d9 f7           the tag 55799, which begins every document
//	a1 44 6b696e64 …   a map of one pair; the byte string "kind"; its value
//	d6 43 000102       the tag 22, which says that the three bytes are base64 in JSON
//	1903e8  f93e00     the integer 1000; the half-precision number 1.5
//	f4 f5 f6           false, true, null
//
// It is written with the shortest heads and numbers, definite lengths and sorted maps, strings as byte strings; what may be read
// beyond that is said at DecodeCBOR. A watch is a sequence of such documents: each a map of type and object, where the
// object is a document, too.
//
// # Invariants
//
//   - Arbitrary bytes never panic.
//   - Nothing that comes in nests deeper than jsontext.MaxDepth, counted as in JSON whatever the format;
//     what is stored already may nest as deeply as jsontext.MaxStoredDepth.
//   - What a decoder allocates is bounded by a small multiple of its input.
//   - What ReadBack accepts, NewObject and DecodeStored accept.
//   - A tree that is passed in is never changed.
package codec
