// Package connect locates the target of requests that connect to a Pod, Service, or Node (proxy),
// or to a container through the kubelet of its Node (log, exec, attach, portforward).
//
//	Options   a request's connect options, from its query
//	Locator   finds the target from the cluster's objects
//	Kubelets  connection pools for kubelets
//
// Invariants:
//   - Requests are proxied only to global unicast addresses. Clients therefore cannot reach the
//     server's loopback and link-local addresses, such as metadata services. The address is checked
//     again at dial time, since a name may resolve differently by then. For a Service, only
//     endpoints with the address of the Pod they reference are used.
//   - A target path with dot segments or escaped slashes is rejected.
//   - A kubelet receives only query parameters derived from the options that admission has seen.
package connect
