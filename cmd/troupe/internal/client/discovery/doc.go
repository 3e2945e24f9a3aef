// Package discovery loads a server's discovery and resolves the resource names that users type. No
// kind is hard-coded.
//
// Load needs two requests for aggregated discovery, or a request per group version if the server
// lacks it.
package discovery
