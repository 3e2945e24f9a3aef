// Command extension is an extension API server, built on the public library like real ones. It
// serves metrics of nodes and Pods from memory, and delegates to the daemon. It reads the front
// proxy's CAs from the ConfigMap, reviews tokens, and authorizes each request by a review. Unlike
// real ones, its Pod metrics can be created and watched.
//
// It is a separate process, because the Protobuf extensions of the library and the daemon conflict.
// It serves on the listener inherited as descriptor 3, and first prints the CA of its certificate
// as PEM.
package main
