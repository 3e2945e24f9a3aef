// Command soak runs the long forms of the suites sequentially within a time, and prints what each
// has covered and found.
//
//	go run ./tools/soak [-minutes 60] [-run REGEXP]
//
// A part (parts.go) is a command and its share of the time, passed in TROUPE_SOAK; parts of a fixed
// size may take less. All fuzz targets share one part. Output goes to bin/soak.log; lines that
// begin with "tried:" and fuzzing results go to the final table. After a failed part the others
// still run, and the exit status is 1. A part that takes twice its share plus five minutes is
// killed.
package main
