// Package requestbody decodes objects and options from JSON, YAML, Protobuf, and CBOR.
//
//	Decoder     decodes a body according to its kind
//	FieldFault  (package codec) an unknown or duplicate field: ignored, reported, or rejected
//
// A body is decoded once. Every error is a *meta.Status. Package wire reads the bytes of a body,
// after authorization and up to a limit.
package requestbody
