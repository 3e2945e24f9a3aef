// Package jsontext reads JSON in place: it finds, skips, copies and unescapes values without
// building anything from them. All hand-written reading of JSON in the server goes through it; what
// becomes an object is built on top of it by package codec.
//
// There are two readers, for two kinds of text:
//
//   - A Scanner checks what it reads. It takes any bytes, accepts exactly what encoding/json accepts
//     and says what is wrong in the same words, which clients of this API know. It is bounded in
//     depth. Decoders embed it, because calling it per token is cheaper than passing token values.
//   - A Value trusts what it reads. It is a piece of JSON that this server has written, or that a
//     Scanner has gone over before. Finding one field of a stored object takes no more than looking
//     for the ends of the values before it. Cut-off JSON yields absent values, never a panic. An
//     Object is a Value that remembers its members, for who asks for many of them.
//
// They differ in two ways for texts that encoding/json accepts. Of members with the same name, a Value
// finds the first one (a decoder keeps the last), and it compares names as they are written, so that an
// escaped name is found only by who asks for it as AppendEscaped writes it. The server never writes
// duplicates, and escapes nothing but by AppendEscaped. Nothing is authorized or admitted by what a Value says about JSON that the server has not
// written itself.
//
// Neither reader allocates, except for strings whose text differs from how they are written, for the
// texts that a Value is asked for, and for errors. The fuzz tests hold both to encoding/json, value for
// value. The limits of depth of all packages are in limits.go.
package jsontext
