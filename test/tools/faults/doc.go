// Command faults plants known faults of comparable systems into the code, one at a time, and checks that a test catches each.
//
//	go run ./tools/faults [-run REGEXP] [-tests ARGUMENTS]
//
// A planted fault (planted*.go) replaces a piece of one file by another. The file is replaced for the compiler only (-overlay), so the
// tree stays as it is, and the build cache serves all that does not depend on the file. The tests that are named with the
// fault must then fail: a fault that no test catches, or that does not compile, ends the command with status 1. It prints a line for each
// fault; docs/reliability.md keeps the list.
//
// Its own test, which is part of make test, checks that every piece is still found in its file, exactly once.
package main
