// Package disruption holds the controller that counts the Pods of PodDisruptionBudgets, so that evictions know how many
// more may go. Evictions take from what it has written (package actors/operations), and it counts again.
//
// It watches Pods when there is a budget, and remembers of those that a budget selects whether they are healthy. What is
// to be healthy is computed by pure functions (compute, scaled).
//
// Invariants:
//
//   - A budget whose Pods cannot be counted allows no disruption, and says why.
//   - A Pod that an eviction has taken counts as gone until it is, or for two minutes.
package disruption
