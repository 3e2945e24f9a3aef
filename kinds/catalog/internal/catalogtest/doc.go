// Package catalogtest runs objects through the rules of their kinds for the tests of all families,
// in the order of a create or an update, and compares the faults. It also holds the objects that
// several families use as a start.
package catalogtest
