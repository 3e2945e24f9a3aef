// Package storage holds the rules of StorageClasses, VolumeAttachments, and the objects that CSI
// drivers publish. Messages and paths are those of kube-apiserver.
package storage
