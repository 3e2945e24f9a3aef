// Package crash kills the daemon's own binary under load, again and again on one data
// directory, and holds what it finds afterwards against what was acknowledged.
//
// Each worker owns a few keys and has one write in flight at most, so of every key the
// model knows the last acknowledged state and at most one write that may or may not have
// happened. Every state of an object carries a checksum over its data, so half a write
// shows. Beside the workers a watch records what it was delivered.
//
// Invariants 2, 14, 17 and 19.
package crash
