// Package public provides the reference implementation for test suites: the public Go types of API
// objects, and CRD schemas as kube-apiserver processes them.
package public
