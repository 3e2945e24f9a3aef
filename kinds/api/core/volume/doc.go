// Package volume validates and defaults PersistentVolumes, PersistentVolumeClaims, and volume
// sources that Pods also use. Each rule concerns only one object and its previous version.
// Controllers bind, provision and protect volumes.
package volume
