// Package process tests the daemon as a process: the built binary, its exit status, its
// signals, its files and its commands. Only what needs a broken disk runs in process, on
// the file system of package vfs. Tests name the invariants of the design that they check.
package process
