// Package volume holds the rules of PersistentVolumes and PersistentVolumeClaims, and of volume
// sources that Pods also use. The rules concern only one object and its previous version.
// Controllers bind, provision and protect volumes.
package volume
