// Package linear lets clients race on few objects and has porcupine decide whether what
// they were answered could have come from one object after the other.
//
// Invariants 1, 3, 6 and 8.
package linear
