// Package volume holds the rules of PersistentVolumes and PersistentVolumeClaims, and of the
// sources of volumes that Pods have as well.
//
// Binding a claim to a volume, provisioning and protection against deletion are the work of controllers.
// Here is only what can be said of one object, or of it and its previous state.
package volume
