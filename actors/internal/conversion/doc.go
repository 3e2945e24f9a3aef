// Package conversion converts stored objects to the version or subresource that a request needs.
//
// A Service is the convert.Converter for every convert.Form except the stored one. It serves gets
// (Get), lists (Convert), watches (Events) and write results (Result). Owners of objects never call
// it, so that a slow conversion does not block writes.
//
// # Built-in and external conversions
//
// Most conversions are built in (package kinds/convert) and run on the caller's goroutine. Some
// kinds have an external convert.Converter, which is called in batches and may be slow or fail.
// Each call has its own goroutine and timeout. If the caller is canceled, the call continues and
// its result is kept for the next caller.
//
// # Shared results
//
// Results are cached by object uid, object version and target schema, within a byte limit. If an
// external call is already converting an object, other requests for it join that call. An event
// therefore costs one conversion, regardless of the number of watches. If the call fails, joined
// callers retry once with only their own objects.
//
// Two objects may have the same uid and version: a changed object, and its previous state in the
// Deleted event for a watch whose selector no longer matches. The key distinguishes the two. A
// dry-run result has no version of its own and is never cached.
package conversion
