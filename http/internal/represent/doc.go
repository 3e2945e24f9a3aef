// Package represent encodes responses. Objects, lists, and events become JSON, YAML, Protobuf, or
// CBOR, as a whole, as a Table, or as metadata only.
//
//	Encoder  encodes objects, lists, and events
//	Body     a response body: bytes, or a function that writes it
//	List     a list that writes itself item by item in every encoding
//	Events   a watch's events in the negotiated format
//	Forms    cache of objects in Protobuf and CBOR, shared by all readers
//
// Stored objects are not modified, and lists are not assembled in memory: at most a few converted
// items exist at a time. This package estimates a response's memory, which its caller reserves.
package represent
