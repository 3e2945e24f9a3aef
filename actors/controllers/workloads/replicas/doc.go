// Package replicas maintains a number of equal Pods for each ReplicaSet and ReplicationController.
// The two kinds differ only in their selectors. In the code, a set is an object of either kind.
//
// In one turn a set claims its Pods, creates or deletes up to 500, and updates its status. Creates
// are sent in batches that double while they succeed, so that a set whose Pods are rejected makes
// one request and not 500. rank.go chooses the Pods to delete.
package replicas
