// Package resource holds the rules of devices: what nodes offer in slices, classes of it, and claims
// to it.
//
// Drivers publish slices, administrators write classes, and users claims. Selectors of devices are
// expressions that the scheduler evaluates; this server refuses those that do not compile.
package resource
