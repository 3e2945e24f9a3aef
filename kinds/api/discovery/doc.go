// Package discovery validates and defaults EndpointSlices.
package discovery
