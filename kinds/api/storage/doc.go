// Package storage holds the rules of StorageClasses, VolumeAttachments, and the objects that CSI
// drivers publish. Messages and odd paths are those of kube-apiserver, because programs write most
// of these objects.
package storage
