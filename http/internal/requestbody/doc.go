// Package requestbody decodes objects and options from JSON, YAML, Protobuf, and CBOR.
//
//	Decoder     decodes a body according to its kind
//	FieldFault  (package codec) an unknown or duplicate field: ignored, reported, or rejected
//
// Every error is a *meta.Status.
package requestbody
