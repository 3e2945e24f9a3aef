// Package disruption provides the controller that writes the status of PodDisruptionBudgets. Each
// eviction (package actors/operations) decrements disruptionsAllowed. The controller then counts
// the healthy Pods and corrects disruptionsAllowed.
//
// The controller watches Pods once there is a budget, and caches the health of selected Pods. Pure
// functions compute the numbers (desired, scaled).
//
// Invariants:
//
//   - A budget whose Pods cannot be counted allows no disruption. Its condition states why.
//   - An evicted Pod counts as unavailable until it is deleted, or for two minutes.
package disruption
