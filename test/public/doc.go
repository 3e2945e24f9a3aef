// Package public provides the reference implementation for tests: the public Go types of API
// objects, and CRD schemas as kube-apiserver processes them.
package public
