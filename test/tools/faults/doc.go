// Command faults injects faults into the code, one at a time, and checks that a test catches each.
// The faults resemble those of comparable systems.
//
//	go run ./tools/faults [-list] [-run REGEXP] [-tests ARGUMENTS]
//
// A fault (planted*.go) replaces a piece of one file through go build's -overlay, which does not
// change the working tree or invalidate the build cache. If no test of the fault fails, or the code
// does not compile, the command exits with status 1. With -list, it prints the faults.
//
// The command's own test is part of make test. It checks that every piece occurs exactly once in
// its file.
package main
