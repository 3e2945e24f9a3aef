// Package apierrors returns the errors that the front detects before the store is asked: a
// *meta.Status per HTTP code, with the messages that clients of this API know and sometimes match
// on. Each call returns a new Status, since callers may add details.
//
// The store, admission, and authorization return their own errors.
package apierrors
