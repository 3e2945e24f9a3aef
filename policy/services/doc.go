// Package services resolves Services of the cluster for clients in this process.
//
// A Resolver reads Services and EndpointSlices. It prefers the ready endpoints in random order with
// their target port, since cluster IPs may not work from here. It uses the cluster IP of a Service
// without slices; ViaClusterIP reverses the order. Check reports why a Service is unreachable, and
// Notify when that may have changed. Addresses may be given explicitly for use outside a cluster.
//
// The Resolver follows EndpointSlices from its first use on.
package services
