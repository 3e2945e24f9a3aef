// Package deployment rolls out the template of each Deployment through ReplicaSets, one per
// template. The newest ReplicaSet grows while the others shrink.
//
//	rollout     one reconciliation: a Deployment, its ReplicaSets, and the status to write
//	replicaSet  a ReplicaSet as read and scaled by the rollout
//
// A reconciliation writes each changed ReplicaSet once, and the Deployment at most once, with
// status and revision. Pure functions make the numeric decisions (scale.go, status.go).
//
// A ReplicaSet belongs to a template if it creates equal Pods, apart from the hash label. The hash
// is used only to name the ReplicaSet. If a ReplicaSet with another template already has that name,
// the controller increments collisionCount, which changes the hash.
package deployment
