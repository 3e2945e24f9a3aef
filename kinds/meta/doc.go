// Package meta is the vocabulary of the API: names of groups, versions, kinds and resources, the
// Key of an object, the Object with its parsed ObjectMeta, the Status that every layer returns as
// its error, and the naming profile (Naming). It does no I/O and knows no kinds.
//
// Objects are shared and immutable. Their JSON is what clients receive, so a read copies bytes.
// ObjectMeta has the metadata that the server uses, which saves decoding.
package meta
