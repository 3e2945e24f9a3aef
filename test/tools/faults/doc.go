// Command faults plants known faults of comparable systems in the code, one at a time, and checks
// that a test catches each.
//
//	go run ./tools/faults [-run REGEXP] [-tests ARGUMENTS]
//
// A planted fault (planted*.go) replaces a piece of one file, for the compiler only (-overlay), so
// that the working tree is unchanged and the build cache stays useful. The fault's tests must then
// fail. If no test catches it, or it does not compile, the command exits with status 1.
// docs/reliability.md lists the faults.
//
// Its own test, part of make test, checks that every piece occurs exactly once in its file.
package main
