// Package disruption holds the controller that writes the status of PodDisruptionBudgets. Evictions
// (package actors/operations) decrement it, and the controller recounts.
//
// It watches Pods once there is a budget, and caches the health of selected ones. Numbers are
// computed by pure functions (desired, scaled).
//
// Invariants:
//
//   - A budget whose Pods cannot be counted allows no disruption, and its condition says why.
//   - An evicted Pod counts as gone until it is, or for two minutes.
package disruption
