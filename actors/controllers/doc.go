// Package controllers holds the controllers that are built into the server, one a file.
// A controller follows objects by a watch and brings them to where their specification
// wants them, through the same Store that requests use; it keeps no state that it could
// not gather anew. Namespaces empties namespaces that are deleted; Expiry deletes Events
// that are old; APIService makes the API itself known as a Service, once at start.
package controllers
