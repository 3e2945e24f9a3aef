// Package pod holds the rules of Pods and of the templates that other kinds make Pods of.
//
// A spec is checked from spec.go: containers (containers.go and the files of their parts), volumes
// (volumes.go), and by package scheduling where the Pod may run. What may change later is in
// update.go; the sub-resources are in a file each.
package pod
