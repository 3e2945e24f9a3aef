// Package connect locates the target of requests that connect to a Pod, Service, or Node (proxy),
// or to a container through the kubelet of its Node (log, exec, attach, portforward).
//
//	Options   the connect options of a request, from its query
//	Locator   finds the target from the objects of the cluster
//	Kubelets  connection pools for kubelets
//
// Invariants:
//   - A client cannot reach the server's loopback and link-local addresses, such as metadata
//     services, because requests are proxied only to global unicast addresses. The address is
//     checked again when connecting, since a name may resolve differently by then. For a Service,
//     only endpoints with the address of the Pod they reference are used.
//   - The path at the target has no dot segments or escaped slashes, because such requests are
//     rejected.
//   - A kubelet receives the options that admission has seen, and no other query parameters.
package connect
