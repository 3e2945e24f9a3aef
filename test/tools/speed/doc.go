// Command speed is the performance gate. It builds the working tree and an older commit, measures
// both with bench in alternating rounds, and compares the CPU time per operation.
//
//	go run ./tools/speed                          # against the last release; minutes to an hour
//	go run ./tools/speed -base COMMIT -only 'get|create' -runs 9
//	go run ./tools/speed -record                  # writes bench/history/COMMIT.json and the plot
//	go run ./tools/speed -tree DIR -record        # measures another checkout
//
// A row fails if its CPU time exceeds that of the base by more than 3 % in every round, so that a
// single noisy round cannot fail it. If any row fails, the exit status is 1.
//
//	row       one workload with a media type and a number of clients
//	history   recorded rows of commits, all relative to the last release
package main
