// Package conversion converts stored objects to the form that a request asks for.
//
// A Service is the Converter of all forms (convert.Form) but the stored one: for gets (Get), lists (Convert), watches
// (Events) and the results of writes (Result). Owners of objects never call it, so no write waits for a conversion of
// others.
//
// # Two sorts of conversion
//
// Most are built in (package kinds/convert): plain computation on the goroutine of whoever asks. For
// some kinds an external convert.Converter is asked, in batches, which may take long and fail. Such a
// call has a goroutine and a time limit of its own: whoever waits for it may give up, and the result is
// still there for the next.
//
// # What is shared
//
// Results are kept in a cache bounded in bytes, by the uid and the version of the object and the schema
// of the target. While an external call is under way, others who need one of its objects wait for it
// instead of making another call. So an event costs one conversion, however many watch. When a call
// fails, those who had joined it try once more with their own objects, since the fault may be with an
// object that does not concern them.
//
// Two states share a uid and a version, and so the key says which is meant: a change that makes an
// object leave the selector of a watch is told to that watch as the deletion of the state before, under
// the version of the change. The result of a dry run has no version of its own and is never kept.
package conversion
