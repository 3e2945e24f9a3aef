// Package conversion converts stored objects to the form that a request needs.
//
// A Service is the Converter of all forms (convert.Form) but the stored one: for gets (Get), lists
// (Convert), watches (Events) and results of writes (Result). Owners of objects never call it, so
// no write waits for another request's conversion.
//
// # Two kinds of conversion
//
// Most conversions are built in (package kinds/convert) and run on the goroutine of the caller.
// Some kinds have an external convert.Converter, which is called in batches and may be slow and
// fail. Each call has its own goroutine and timeout: a caller may give up waiting, and the result
// is kept for the next one.
//
// # Shared results
//
// Results are cached, within a limit in bytes, by uid and version of the object and schema of the
// target. Requests for an object of a running external call wait for it instead of making another.
// So an event costs one conversion, however many watches there are. If a call fails, callers that
// joined it retry once with only their own objects, since the fault may be in another one.
//
// Two states may share uid and version, so the key distinguishes them: a watch whose selector no
// longer matches gets a deletion with the previous state under the version of the change. The
// result of a dry run has no version of its own and is never cached.
package conversion
