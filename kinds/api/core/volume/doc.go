// Package volume holds the rules of PersistentVolumes and PersistentVolumeClaims, and of volume
// sources that Pods have too. Controllers bind, provision and protect them; these rules concern
// only one object and its previous state.
package volume
