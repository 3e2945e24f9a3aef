// Package conversion converts stored objects to the form that a request needs.
//
// A Service is the Converter of all forms (convert.Form) except the stored one. It serves gets
// (Get), lists (Convert), watches (Events) and results of writes (Result). Owners of objects never
// call it, so that no write waits for the conversion of another request.
//
// # Two kinds of conversion
//
// Most conversions are built in (package kinds/convert) and run on the goroutine of the caller.
// Some kinds have an external convert.Converter, which is called in batches and may be slow and
// fail. Each call has its own goroutine and timeout. A caller may give up waiting, and the result
// is kept for the next caller.
//
// # Shared results
//
// Results are cached, within a limit in bytes, by uid and version of the object and schema of the
// target. Requests for an object in a running external call wait for that call instead of making
// another. An event therefore costs one conversion, however many watches there are. If a call
// fails, callers that joined it retry once with only their own objects, because another object may
// be the cause.
//
// Two objects may have the same uid and version. A watch whose selector no longer matches gets a
// deletion with the previous object under the version of the change. The key distinguishes the two.
// The result of a dry run has no version of its own and is never cached.
package conversion
