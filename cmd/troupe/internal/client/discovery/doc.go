// Package discovery loads a server's discovery documents and resolves the resource names that users
// type. No kind is hard-coded.
//
// Load needs two requests for aggregated discovery, or one request per group version if the server
// does not support it.
package discovery
