// Package operations holds requests that are created but not stored: they change several objects, by
// rules that involve all of them.
//
// There is one so far: an Evictor deletes Pods as far as their disruption budgets allow.
//
// An operation changes objects only through the store, like any client. The state that it decides on is
// a precondition of the change that it then makes: a disruption is taken from a budget at the version at
// which the budget was read, so that no two evictions take the same one.
package operations
