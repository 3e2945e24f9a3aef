// Package requestbody decodes what clients send: objects and options, in JSON, YAML, Protobuf and CBOR.
//
// Its nouns:
//
//	Decoder      makes a tree of a body, by the plan of its kind
//	FieldFault   (of package codec) a field that is unknown or there twice: ignored, warned of or refused
//
// A body is decoded once. Where its encoding cannot be decoded, or it is of another kind than the path takes, the
// error is a *meta.Status in the words that clients know.
//
// Bytes come from package wire, which bounds them; whose body it is, and whether it may be read at all, has been
// decided before.
package requestbody
