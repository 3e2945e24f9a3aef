// Package discovery holds the rules of EndpointSlices.
package discovery
