// Package deployment rolls out the template of each Deployment through ReplicaSets, one per
// template. The newest set grows while the others shrink.
//
//	rollout     one reconciliation: a Deployment, its sets, and the status to write
//	replicaSet  a ReplicaSet as read and scaled by the rollout
//
// A turn writes each changed set once, and the Deployment at most once, with status and revision.
// Pure functions make the decisions based on numbers (scale.go, status.go).
//
// A set belongs to a template if it creates equal Pods, apart from the hash label. The hash only
// names the set. If a set with another template already has the name, collisionCount changes the
// hash.
package deployment
