// Package node authorizes kubelets. A kubelet may read the objects that the Pods on its node need,
// and write objects of its own node.
//
// An Authorizer uses a graph of objects that belong to nodes. A vertex is one object. A node is a
// user named system:node:<name> in the group system:nodes. Objects belong to a node only through
// these edges:
//
//	Pod → its node, by spec.nodeName
//	ServiceAccount, Secret, ConfigMap, PersistentVolumeClaim, ResourceClaim → a Pod that uses it
//	PersistentVolume → its bound claim, by spec.claimRef
//	Secret → a PersistentVolume that uses it
//	VolumeAttachment, ResourceSlice, PodCertificateRequest → its node, by spec.nodeName
//
// A mirror Pod is written by the node itself. It therefore belongs to the node but has no edges to
// other objects.
//
// Watch events change the graph one at a time, under a read-write lock. Deleted objects leave no
// vertices or edges behind. The authorizer does not see the content of a node's writes, which the
// NodeRestriction admission plugin checks.
package node
