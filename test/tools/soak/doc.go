// Command soak runs long versions of the test suites one after another within a given time. It
// prints the coverage and findings of each.
//
//	go run ./tools/soak [-minutes 60] [-run REGEXP]
//
// A part (parts.go) is a command and its share of the time, which TROUPE_SOAK passes to the
// command. Parts of a fixed size may take less. All fuzz targets together have one share. Output
// goes to bin/soak.log. The final table repeats lines that begin with "tried:" and the results of
// fuzzing.
//
// If a part fails, the others still run, and the exit status is 1. A part that takes longer than
// twice its share plus five minutes is killed.
package main
