// Package apierrors makes the failures that the front finds by itself, before the store is asked:
// a *meta.Status for each HTTP code, in the words that clients of these conventions already know and
// sometimes match on. Each call makes a new Status, for those who answer with it may add details.
//
// Failures that the store, admission or authorization find are made where they are found.
package apierrors
