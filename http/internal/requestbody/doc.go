// Package requestbody decodes objects and options from JSON, YAML, Protobuf, and CBOR.
//
//	Decoder     decodes a body according to its kind
//	FieldFault  (package codec) an unknown or duplicate field: ignored, warned about, or refused
//
// A body is decoded once. Errors, also for a wrong kind, are a *meta.Status with the messages that
// clients know.
//
// Package wire reads and bounds the bytes, after authorization.
package requestbody
