// Package storage holds the rules of storage classes, of attachments of volumes, and of what CSI
// drivers say about themselves.
package storage
