// Package services resolves Services of the cluster for clients in this process.
//
// A Resolver reads Services and EndpointSlices. It prefers ready endpoints with their target port,
// in random order, because this process may be unable to reach cluster IPs. For a Service without
// slices, it uses the cluster IP. After ViaClusterIP, it prefers the cluster IP. Outside a cluster,
// addresses can be given explicitly.
package services
