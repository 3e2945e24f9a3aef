// Package replicas maintains a number of equal Pods for each ReplicaSet and ReplicationController.
// The two kinds differ only in their selectors. In the code, a set is an object of either kind.
//
// Each reconciliation claims the Pods of a set, creates or deletes up to 500 Pods, and updates the
// status. Creates are sent in batches that double in size while they succeed, so that rejected Pods
// cause one request instead of 500. rank.go chooses the Pods to delete.
package replicas
