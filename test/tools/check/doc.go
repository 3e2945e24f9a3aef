// Command check runs the tests of both modules, as make test and make check do.
//
//	go run ./tools/check             everything that must pass before a change goes in
//	go run ./tools/check -stages suite   only the stages whose names match a pattern
//	go run ./tools/check -changed    what a change needs: analysis and tests of the changed packages
//	go run ./tools/check -flakes 10  the suites, ten times, under load, to find tests that depend on the machine
//
// It prints one line per stage with its duration and its CPU time, the output of tests that fail, and a summary: the stages, the slowest tests, skipped
// tests, and the time in total. It exits with status 1 if something failed.
//
// Its nouns:
//
//	stage     a step with a line of output: an analysis, a build or a run of tests. Suites run at the same time, one
//	          more than there are CPUs
//	suite     a package of test/ with black-box tests; each is one binary
//	topic     the files of a suite whose names begin alike, such as api/apply
//	tool      a program that some tests need and that is not written in Go, such as strace
//
// Packages and topics in which goroutines meet run with the race detector (raced.go). The others compute with one goroutine, or drive
// the server as a process; go test -race runs all of them with it.
//
// Suites whose subject is not the disk keep their files in /dev/shm if it has room and may hold programs. A missing tool is reported at
// the start; the tests that need it are skipped, and fail where CI is set.
package main
