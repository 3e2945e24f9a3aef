// Package watch holds lists and watches against a log of all commits, under random
// histories and many selectors.
//
// Invariants 9 to 18.
package watch
