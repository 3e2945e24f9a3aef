// Package connect finds out where a request goes that connects to what an object stands for: to a Pod, a Service or a
// Node, by the verb proxy, or to a container by way of the agent of its Node (log, exec, attach, portforward).
//
// Its nouns:
//
//	Options   what a request wants of the connection, read from its query
//	Locator   finds the target of a request, by the objects of the cluster
//	Kubelets  how the agents of Nodes are reached
//
// What always holds:
//   - Nobody gets by way of the server where only it may go: Pods, Services and Nodes are proxied to only at addresses
//     that are global unicast, which leaves out loopback and link-local ones, such as those of metadata services. That is
//     checked when the connection is made, too, since a name may have become another address by then. A
//     Service is its Pods: an endpoint that is not the address of the Pod that it names is not used.
//   - The path at the other end has no dot segments and no escaped slashes, for the request's had none.
//   - What the options say is sent, and nothing else of the query: an agent gets no parameter that admission has not seen.
package connect
