// Package storage holds the rules of storage classes, of attachments of volumes, and of what CSI
// drivers say about themselves.
//
// Most objects of this group are written by programs: drivers, their side-cars, the attach controller and
// kubelets. So messages and odd paths of faults matter less to people here, and are kept as these programs
// know them.
package storage
