// Package storage validates and defaults StorageClasses, VolumeAttachments, and the objects that
// CSI drivers publish. Error messages and field paths match kube-apiserver's.
package storage
