// Package represent encodes responses: objects, lists, and events as JSON, YAML, Protobuf, or CBOR,
// whole, as a Table, or as metadata only.
//
//	Encoder  encodes all of them
//	Body     a response body: bytes, or a function that writes it
//	List     a list that writes itself item by item in every encoding
//	Events   the events of a watch in the negotiated format
//	Forms    cache of objects in Protobuf and CBOR, shared by all readers
//
// Stored objects are not modified, and lists are not assembled in memory: at most a few converted
// items exist at a time. Memory use is estimated here and reserved by the sender.
//
// Everything is a function of objects and a Format, independent of requests, connections, and the
// store.
package represent
