// Package field validates single fields for the API group packages: enums, formats, numbers, names,
// and presence.
//
// A check receives the object that contains the field, the object's path, and a list to which it
// appends errors. Error messages match kube-apiserver's.
package field
