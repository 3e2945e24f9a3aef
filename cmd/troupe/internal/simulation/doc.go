// Package simulation simulates the nodes of a cluster. It registers Nodes, renews their leases, and
// acts as the kubelet of their Pods, without running anything.
//
//	Cluster      the nodes of one process, with one watch of Nodes and one of Pods
//	lifecycle    the next step of a Pod, as a function of the Pod and the time
//	program      what a container does: by annotations or a known command; otherwise it runs forever
//	queue        Pods to process, by time
//	kubelet      the HTTPS server for logs and commands of containers
//	provisioner  creates and deletes volumes for claims of the simulation's StorageClass
//
// The state of a Pod is derived only from its status, so a killed simulation resumes. Steps happen
// at whole seconds, which is the resolution of API timestamps.
//
// The registry holds Pods and Nodes under its lock. Watch events and responses to writes update it,
// and the newest resource version wins. Only one worker at a time processes a Pod.
package simulation
