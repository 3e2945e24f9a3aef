// Package field checks single fields for the packages of API groups: enums, formats, numbers,
// names, and presence.
//
// A check gets the object with the field, the path of the object, and a list of faults to append
// to. Messages are those of kube-apiserver.
package field
