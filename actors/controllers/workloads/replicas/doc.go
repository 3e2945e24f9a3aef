// Package replicas keeps a number of equal Pods for each ReplicaSet and ReplicationController. The
// kinds differ only in their selectors; the code calls both sets.
//
// In one turn a set claims its Pods, creates or deletes up to 500, and updates its status. Creates
// are sent in batches that double while they succeed, so that a refused set makes one request and
// not 500. rank.go chooses the Pods to delete.
package replicas
