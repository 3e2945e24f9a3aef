// Package crash kills the daemon's binary under load, repeatedly on the same data directory, and
// checks after each start that no acknowledged write is lost or changed.
//
// Each worker owns a few keys and has at most one write in flight. So the model knows for every key
// the last acknowledged state and at most one write that may or may not have been applied. Every
// object carries a checksum of its data, which reveals partially applied writes. In parallel, a
// watch records the events that were delivered before the kill.
package crash
