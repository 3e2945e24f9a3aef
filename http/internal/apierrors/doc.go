// Package apierrors returns the errors that the HTTP layer detects before it calls the store. Most
// are a *meta.Status with kube-apiserver's message, because clients match on some messages. Each
// call returns a new Status, because callers may add details.
package apierrors
