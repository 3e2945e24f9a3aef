// Package convert converts objects between their stored version and the versions and subresources
// in which they are served.
//
// Objects are stored in one version (schema.Kind.Stored). Other versions, including kinds of other
// groups that share the storage, use a schema.Conversion. Subresources with another kind, such as a
// scale, use a schema.View. A client that reads one version and writes it back must not change
// anything in another. Most reads request the stored version, which needs no decoding.
//
// The conversions of this package are pure and cannot fail on intact objects. A Form includes a
// Converter, which may block and fail. If a kind has a conversion webhook, stored bytes are valid
// only in the version in which they were written (written.go).
package convert
