// Command mutants makes random small changes to packages, one at a time, and reports those that no
// test notices.
//
//	go run ./tools/mutants [-n 30] [-seed 1] [-tests FOLDER,…] [-run REGEXP] [-timeout 2m] FOLDER…
//
// Folders are relative to the root of the repository. The changes are: a negated condition, another
// comparison, a constant of a comparison plus or minus 1, another boolean, && instead of || and the
// reverse, and a skipped statement or check. The same seed makes the same changes.
//
// All mutants of a package are compiled into one test binary through go build's -overlay, and an
// environment variable selects one. Mutants that do not compile are dropped. Each mutant runs the
// tests of -tests, by default those of the nearest folder that has tests, as test/tools/check does.
// A mutant that runs into the timeout counts as killed. The command prints survivors with their
// change; they are either equivalent to the code, or need a test.
package main
