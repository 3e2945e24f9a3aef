// Package operations holds what clients create and nobody stores: requests that change
// objects in more than one step, by rules that no single object can hold.
//
// The nouns: an Evictor takes Pods away as far as disruption budgets allow.
//
// Invariants: an operation changes objects through the store only, like any client, and
// what it decides on is a precondition of what it then does: a budget is spent at the
// version at which it was seen, so that no two evictions spend the same disruption.
package operations
