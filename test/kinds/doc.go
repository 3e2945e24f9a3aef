// Package kinds asks a real daemon for what single kinds do beyond the conventions that all
// kinds share: their sub-resources, and the versions that share a storage.
package kinds
