// Package apiclient speaks to an API server over plain HTTP and JSON, for the commands that play members of a cluster.
//
//	Client   requests, with the credentials of a client configuration file
//	Follow   a list and a watch after it, without end: what a client library calls an informer
//
// It knows no kinds: who calls it decodes the bytes of objects into structures of its own that hold no more than it
// needs. Any number of goroutines may use a Client.
package apiclient
