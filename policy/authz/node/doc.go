// Package node authorizes the agents of nodes: each may read what the Pods on its node need, and
// write about itself.
//
// An Authorizer decides by a graph of objects that belong to nodes; a vertex is one object. A node
// is a user named system:node:<name> in the group system:nodes. Objects belong to it through these
// edges only:
//
//	Pod → its node, by spec.nodeName
//	ServiceAccount, Secret, ConfigMap, PersistentVolumeClaim, ResourceClaim → a Pod that names it
//	PersistentVolume → the claim that it is bound to, by spec.claimRef
//	Secret → a PersistentVolume that names it
//	VolumeAttachment, ResourceSlice → its node, by spec.nodeName
//
// A mirror Pod is written by the node itself, so it belongs to the node but has no edges to other
// objects.
//
// Only the watches of the objects change the graph, one change at a time under its lock, which
// readers hold too. Deleted objects leave nothing behind. The admission plugin NodeRestriction
// checks what a node writes about itself.
package node
