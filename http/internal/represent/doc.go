// Package represent encodes responses. Objects, lists, and events become JSON, YAML, Protobuf, or
// CBOR, as a whole, as a Table, or as metadata only.
//
//	Encoder  encodes objects, lists, and events
//	Body     a response body: bytes, or a function that writes it
//	List     a list that writes itself item by item in every encoding
//	Events   a watch's events in the negotiated format
//	Forms    a cache of objects in Protobuf and CBOR, shared by all requests
//
// Lists are not assembled in memory. This package estimates the memory that a response needs, so
// that the caller can reserve it.
package represent
