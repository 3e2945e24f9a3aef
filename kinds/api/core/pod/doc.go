// Package pod holds the rules of Pods and Pod templates that depend on several fields or on the
// previous object, and their warnings. Each subresource has its own file.
package pod
