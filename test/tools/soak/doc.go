// Command soak runs long versions of the test suites sequentially within a given time. It prints
// the coverage and findings of each.
//
//	go run ./tools/soak [-minutes 60] [-run REGEXP]
//
// A part (parts.go) is a command and its share of the time, which it receives in TROUPE_SOAK. Parts
// of a fixed size may take less. All fuzz targets together have one share. Output goes to
// bin/soak.log. The final table contains the results of fuzzing and lines that start with "tried:".
//
// If a part fails, the others still run, and the exit status is 1. A part that takes longer than
// twice its share plus five minutes is killed.
package main
