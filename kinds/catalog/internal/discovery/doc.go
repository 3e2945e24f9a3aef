// Package discovery holds the rules of EndpointSlices.
//
// Slices are written by a controller for each Service and read by the proxy of every node; people rarely
// see them.
package discovery
