// Command check runs the tests of both modules, for make test and make check.
//
//	go run ./tools/check                everything that must pass before a change is merged
//	go run ./tools/check -stages suite  only the stages whose names match a pattern
//	go run ./tools/check -changed       analysis and tests of the changed packages
//	go run ./tools/check -flakes 10     the suites ten times under load, to find flaky tests
//
// It prints each stage's duration and CPU time, the output of failed tests, and a summary with the
// slowest and the skipped tests. It exits with status 1 if anything failed.
//
//	stage     an analysis, a build or a test run; up to CPUs + 2 suites run concurrently
//	suite     a package of black-box tests in test/, built as one binary
//	topic     the files of a suite with a common prefix, such as api/apply
//	tool      an external program that some tests need, such as strace
//
// Concurrent packages and topics run with the race detector (raced.go). The others use one
// goroutine, or run the server as a separate process. go test -race covers all of them.
//
// Topics that do not test the disk keep their files in /dev/shm, if it has enough space and allows
// programs to run. Missing tools are reported at startup. Tests that need them are skipped, or fail
// if CI is set.
package main
