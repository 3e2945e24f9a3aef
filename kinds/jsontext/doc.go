// Package jsontext reads JSON in place. It finds, skips, copies and unescapes values without
// building a tree. Package codec decodes objects on top of it.
//
// It has two readers:
//
//   - A Scanner checks its input. It accepts exactly the same input as encoding/json, with the
//     same error messages. Its depth is bounded. Decoders embed it, because calls per token are
//     cheaper than token values.
//   - A Value trusts its input, which this server has written or a Scanner has checked. Finding
//     a field scans only the values before it. Truncated JSON yields absent values, never a
//     panic. An Object is a Value that caches its members for several lookups.
//
// On valid input, a Value differs from encoding/json in two ways. It finds the first of duplicate
// members, whereas a decoder keeps the last. It compares names as written, so an escaped name must
// be given as AppendEscaped writes it. The server writes no duplicates and escapes only with
// AppendEscaped. Authorization and admission never depend on a Value of JSON from another source.
//
// limits.go contains the depth limits of all packages.
package jsontext
