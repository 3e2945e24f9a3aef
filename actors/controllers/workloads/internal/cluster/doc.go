// Package cluster is shared by the workload controllers. It has one cache each of Pods and Nodes,
// and functions that create and delete Pods.
//
//	Cluster    the caches, and controllers that pause while another process leads
//	Pod, Node  views of these objects
//	Resources  requests of a Pod, or capacity of a Node
package cluster
