// Package process tests the daemon as a process: the built binary, its exit status, its
// signals, its files and its commands. Only what needs a broken disk runs in process, on
// the file system of package vfs. Tests name the invariants of the design that they check.
//
//	what an earlier version has left                    TestUpgrade
//	what was durable and is missing                     TestLossIsTold
//	a disk that is full: reads, deletes, healing        TestDiskFull, TestFullDiskHeals, TestStartsOnFullDisk
//	a disk that does not answer                         TestHungDisk
//	a log that fails under many writers                 TestFailedSync, TestEverybodyInFlightIsAnswered
package process
