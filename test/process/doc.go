// Package process tests the daemon as a process: the built binary, its exit status, signals, files
// and commands. Only the tests that need a failing disk run the daemon in the test's own process,
// on an injected file system.
//
//	data of an earlier version                          TestUpgrade
//	journal that lacks acknowledged writes              TestLossIsTold
//	full disk: reads, deletes, recovery of writes       TestDiskFull, TestFullDiskHeals, TestStartsOnFullDisk
//	disk that does not respond                          TestHungDisk
//	failed sync with many concurrent writers            TestFailedSync, TestEverybodyInFlightIsAnswered
package process
