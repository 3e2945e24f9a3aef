// Package volume holds the rules of PersistentVolumes and PersistentVolumeClaims, and of volume
// sources that Pods also use. Controllers bind, provision and protect volumes. These rules concern
// only one object and its previous version.
package volume
