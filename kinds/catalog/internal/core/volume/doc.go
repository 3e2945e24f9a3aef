// Package volume holds the rules of PersistentVolumes and PersistentVolumeClaims, and of the
// sources of volumes that Pods have as well.
package volume
