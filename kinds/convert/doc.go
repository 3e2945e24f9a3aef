// Package convert converts objects between their stored version and the versions and subresources
// in which they are served.
//
// Objects are stored in one version (schema.Kind.Stored). Other versions, including kinds of other
// groups that share the storage, use a schema.Conversion. Subresources with another kind, such as
// Scale, use a schema.View. Reading one version and writing it back must not change any other
// version.
//
// This package's conversions are pure and cannot fail on intact objects. A Form includes a
// Converter, which may block and fail. For a kind with a conversion webhook, stored bytes are valid
// only in the version in which they were written (written.go).
package convert
