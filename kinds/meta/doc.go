// Package meta defines the basic API types: the names of groups, versions, kinds and resources, the
// Key of an object, and the Object with its parsed ObjectMeta. Status is the error type of every
// layer, and Naming is the naming profile. The package does no I/O and depends on no kinds.
//
// Objects are shared and immutable.
package meta
