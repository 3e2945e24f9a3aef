// Package pod defaults Pods and Pod templates, returns their warnings, and validates rules that
// depend on several fields or on the previous object. Each subresource has its own file.
package pod
