// Package cluster is what the controllers of workloads share: views of Pods and Nodes, with one cache of each kind for
// all, and the Pods that they create and delete.
//
//	Cluster    the caches, and controllers that pause while another process leads
//	Pod, Node  what controllers need of these objects
//	Resources  what a Pod requests and a Node has left
package cluster
