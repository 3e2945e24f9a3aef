// Package deployment rolls out the template of each Deployment by ReplicaSets: one for each template, of which the
// newest grows while the others shrink.
//
//	rollout        one turn: a Deployment, its sets, and what is to be written of it
//	replicaSet     a set as the rollout reads and scales it
//
// A turn changes the sets, one write for each that changes, and writes the Deployment at most once, with the status and
// the number of the revision. Everything that is decided by numbers alone is a function of them (scale.go, status.go).
//
// A set belongs to a template if it makes the same Pods, not counting the label with the hash. So nothing depends on the
// hash but the name of a set; where a name is taken by another template, collisionCount makes another hash.
package deployment
