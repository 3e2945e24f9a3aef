// Package convert turns objects between the version in which they are stored and the versions and
// sub-resources in which they are served.
//
// An object is stored in one version (schema.Kind.Stored). Another version of its kind, or a kind of
// another group that shares the storage, is served through a schema.Conversion; a sub-resource with a body
// of another kind, such as a scale, through a schema.View. Neither may lose what a write back needs: a
// client that reads in one version and writes what it has read must change nothing in another.
//
// An object that is asked for in the version that it is stored in is returned as it is, without being
// decoded. Most reads are of that sort.
//
// The conversions here are computation only, and cannot fail on stored objects that are intact. A Form is the form
// in which a request gets objects, with its Converter, which may wait and fail. Where a webhook is asked, stored bytes
// mean something in the version only in which they were written (written.go).
package convert
