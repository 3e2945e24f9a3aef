// Package namespaces deletes the content of terminating namespaces, here and in extension API
// servers. The remainingContent of each attempt is reported in the conditions of the namespace. A
// namespace is identified by name and uid, so the content of its successor is never deleted.
package namespaces
