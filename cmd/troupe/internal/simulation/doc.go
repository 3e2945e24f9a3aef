// Package simulation simulates the nodes of a cluster. It registers Nodes, renews their leases, and
// acts as the kubelet of their Pods, without running any containers.
//
//	Cluster      all nodes of one process, with one watch of Nodes and one of Pods
//	lifecycle    a Pod's next step, as a function of the Pod and the time
//	program      a container's behavior, by annotations or command (default: run forever)
//	queue        Pods to process, by time
//	kubelet      the HTTPS server for container logs and commands
//	provisioner  creates and deletes volumes for claims of the simulation's StorageClass
//
// A Pod's next state depends only on the Pod and its status in the API, so a killed simulation
// resumes after a restart. Steps happen at whole seconds, the resolution of API timestamps.
package simulation
