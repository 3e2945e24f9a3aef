// Package meta defines the basic types of the API. It has the names of groups, versions, kinds and
// resources, the Key of an object, and the Object with its parsed ObjectMeta. Status is the error
// type of every layer, and Naming the naming profile. The package does no I/O and depends on no
// kinds.
//
// Objects are shared and immutable. A read copies the JSON of an object to the client. ObjectMeta
// holds the metadata that the server uses, so the JSON need not be decoded.
package meta
