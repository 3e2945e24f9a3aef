// Package disruption holds the controller that writes the status of PodDisruptionBudgets. Evictions
// (package actors/operations) decrement disruptionsAllowed, and the controller recounts.
//
// The controller watches Pods once there is a budget, and caches the health of selected Pods. Pure
// functions compute the numbers (desired, scaled).
//
// Invariants:
//
//   - A budget whose Pods cannot be counted allows no disruption, and its condition has the reason.
//   - An evicted Pod counts as unavailable until it is deleted, or for two minutes.
package disruption
