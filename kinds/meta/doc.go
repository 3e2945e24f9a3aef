// Package meta is the vocabulary of the API, which every other package uses: names of groups, versions, kinds
// and resources, the Key of an object, the Object itself with its parsed ObjectMeta, the Status that every
// layer returns as its error, and the naming profile (Naming). It does no I/O and knows no kind.
//
// An Object is shared by all who read it and never changes. Its JSON is what clients get, so that a read
// is a copy of bytes; ObjectMeta holds what the server itself has to look at, so that it need not decode.
package meta
