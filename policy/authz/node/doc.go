// Package node authorizes the agents of nodes: each may read what the Pods on its node need, and
// write about itself.
//
// An Authorizer decides by a graph of which objects belong to which nodes; a vertex is one object.
//
// A node is a user named system:node:<name> in the group system:nodes. Objects belong to it by these
// edges, which are followed as far as here and no further:
//
//	Pod → its node, by spec.nodeName
//	ServiceAccount, Secret, ConfigMap, PersistentVolumeClaim, ResourceClaim → a Pod that names it
//	PersistentVolume → the claim that it is bound to, by spec.claimRef
//	Secret → a PersistentVolume that names it
//	VolumeAttachment, ResourceSlice → its node, by spec.nodeName
//
// A mirror Pod is written by the node itself, so it is an object of its node and leads no further.
//
// Invariants: the graph is changed by the watches of the objects alone, one change at a time, and is
// read under the same lock; an object that has gone leaves nothing in it. What a node may write
// about itself is for admission to check, by the plugin NodeRestriction.
package node
