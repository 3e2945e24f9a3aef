// Package field validates single fields for the API group packages: enums, formats, numbers, names,
// and presence.
//
// A check gets the object with the field, the object's path, and a list of errors to append to.
// Error messages match kube-apiserver's.
package field
