// Package linear lets clients race on few objects and has porcupine decide whether what
// they were answered could have come from one object after the other.
//
// So reads and writes of one object are linearizable: of two updates that carry the same resource version
// one succeeds and the other gets 409, of two creates of one name one gets 201 and the other 409, and
// concurrent patches are all applied.
package linear
