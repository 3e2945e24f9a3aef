// Command soak runs the long forms of the suites one after the other within a time, and prints what each has tried and found.
//
//	go run ./tools/soak [-minutes 60] [-run REGEXP]
//
// A part (parts.go) is one command and its share of the time, which the command learns from TROUPE_SOAK; parts of a fixed size may take less. All fuzz
// targets of the tree share one part. What the parts print goes to bin/soak.log, lines that begin with "tried:" and the results of fuzzing into the table at the
// end. A part that fails does not keep the others from running; the status is then 1. What a test has made fails by its own timeout, and a part that
// takes twice its share and five minutes is ended.
package main
