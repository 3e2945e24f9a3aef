// Package openapi checks what the daemon says of its kinds: that each document is what the
// gnostic models make of it, in JSON and in Protobuf, that clients' own loaders take it, and
// how it is served.
package openapi
