// Package services resolves Services of the cluster for clients in this process.
//
// A Resolver reads Services and EndpointSlices. It prefers ready endpoints with their target port,
// in random order, because this process may be unable to reach cluster IPs. It uses the cluster IP
// for a Service without slices, or first if ViaClusterIP was called. Check returns the reason why a
// Service is unreachable, and Notify reports when the result of Check may have changed. Outside a
// cluster, addresses can be given explicitly.
package services
