// Package namespaces deletes the content of terminating namespaces, here and in extension API
// servers. Each attempt reports its remainingContent in the conditions of the namespace. A
// namespace is identified by name and uid, so the content of its successor is never deleted.
package namespaces
