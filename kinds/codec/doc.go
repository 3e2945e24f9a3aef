// Package codec converts between trees and JSON, YAML, Protobuf and CBOR, each by a walk over the
// plan of a kind (schema.Message).
//
// # Files to read first
//
//	decode.go     DecodeJSON and its variants; decoder.go is the walk
//	conform.go    the same checks for a patched tree
//	encode.go     EncodeJSON and its variants; encoder.go is the walk
//	readback.go   the check before bytes are stored, and on recovery
//	wire.go       the Protobuf form of the plan; wire_decode.go and wire_encode.go use it
//	cbor.go       heads and tags of CBOR; cbor_decode.go and cbor_encode.go use them
//
// # Decoding
//
// JSON is decoded in one pass. Strings share one copy of the body and keys are those of the plan,
// so a small object takes few allocations. A value of a wrong type does not stop decoding, because
// an error for malformed JSON takes precedence. Error messages are those of encoding/json. Unknown
// and duplicate fields are dropped and reported as faults, at most 100. The last duplicate wins.
//
// # Encoding
//
// Fields are written in the order of the plan and map keys are sorted. Equal objects therefore have
// equal bytes, on which no-op writes, hashes and caches rely. An object begins with
//
//	{"kind":"…","apiVersion":"…","metadata":{…,"resourceVersion":"",…
//
// and Encoded.VersionOffset is the offset between the last two quotes, where the version is
// inserted at commit. These field options determine when a field is written:
//
//	EmitEmpty  written even when absent: "" 0 false {} "0" and null for lists, maps, times, bytes and raw values
//	Pointer    written when present, also when zero
//	neither    written unless zero or empty; messages, times, quantities and int-or-strings when present
//
// # Protobuf
//
// A body is 6b 38 73 00 followed by the message Unknown: 1 typeMeta {1 apiVersion, 2 kind}, 2 raw,
// 3 contentEncoding, 4 contentType. raw is the object. Fields are sorted by number and map entries
// by key. The special messages are:
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
// An item (RFC 8949) consists of a head, which contains the type and a number, and its content:
//
//	d9 d9 f7           the tag 55799, which begins every document
//	a1 44 6b696e64 …   a map of one pair; the byte string "kind"; its value
//	d6 43 000102       the tag 22: the three bytes are base64 in JSON
//	1903e8  f93e00     the integer 1000; the half-precision number 1.5
//	f4 f5 f6           false, true, null
//
// The encoder writes the shortest heads and numbers, definite lengths, sorted maps, and strings as
// byte strings. DecodeCBOR documents the other accepted forms.
//
// # Invariants
//
//   - Arbitrary bytes never panic.
//   - Incoming data nests at most jsontext.MaxDepth levels, counted as in JSON for all formats;
//     stored data at most jsontext.MaxStoredDepth.
//   - The memory of a decoder is bounded by a small multiple of its input.
//   - NewObject and DecodeStored accept what ReadBack accepts.
//   - Input trees are never changed.
package codec
