// Package field checks single fields for the packages of API groups: enums, formats, numbers,
// names, and presence.
//
// A check gets the object with the field, the path of the object, and the list for its faults. It
// reports all faults that it finds, with the messages of kube-apiserver.
package field
