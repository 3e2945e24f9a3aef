// Package connect locates the target of requests that connect to a Pod, Service, or Node (proxy),
// or to a container through the kubelet of its Node (log, exec, attach, portforward).
//
//	Options   the connect options of a request, from its query
//	Locator   finds the target from the objects of the cluster
//	Kubelets  how kubelets are reached
//
// Invariants:
//   - The server is not a way into its own network position: Pods, Services, and Nodes are proxied
//     to only at global unicast addresses, which excludes loopback and link-local ones such as
//     metadata services. This is also checked on connecting, since names may resolve differently by
//     then. For a Service, only endpoints with the address of the Pod they reference are used.
//   - The path at the target has no dot segments or escaped slashes, because the request's had
//     none.
//   - A kubelet receives the options, not other query parameters, so none that admission has not
//     seen.
package connect
