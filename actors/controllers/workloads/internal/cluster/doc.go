// Package cluster provides shared caches of Pods and Nodes for the workload controllers, and
// functions that create and delete Pods.
//
//	Cluster    the caches, and controllers that pause while another process leads
//	Pod, Node  views of these objects
//	Resources  a Pod's requests or a Node's capacity
package cluster
