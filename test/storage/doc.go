// Package storage tests that no acknowledged write is lost and that all clients see one history:
// kills, disks, etcd, watches, quotas.
//
// The files of a topic begin with its name. The topics:
//
// # Crash
//
// These tests kill the daemon's binary under load, repeatedly on the same data directory. After
// each start they check that no acknowledged write is lost or changed.
//
// Each worker owns a few keys and has at most one write in flight. So the model has for every key
// the last acknowledged state and at most one write that may or may not have been applied. Every
// object has a checksum of its data, which reveals partially applied writes. In parallel, a watch
// records the events delivered before the kill.
//
// # Encryption
//
// These tests cover encryption at rest: what reaches the disk, which keys are needed, key rotation,
// and objects whose key is missing.
//
// # Linear
//
// In these tests clients race on a few objects, and porcupine checks that the responses are
// linearizable. Of two updates with the same resource version, one succeeds and the other gets 409.
// Of two creates of one name, one gets 201 and the other 409. Concurrent patches are all applied.
//
// # Migrate
//
// These tests migrate states between data directories and etcd, and back up both.
//
// # Operations
//
// These tests cover objects that are created but not stored, over HTTP: evictions, bindings, and
// reviews of tokens and access. They also cover the related subresources and versions.
//
// # Process
//
// These tests cover the daemon as a process: the binary, its exit status, signals, files and
// commands. Only the tests that need a failing disk run the daemon in the test's own process, on a
// fault-injecting file system.
//
//	data of an earlier version                          TestUpgrade
//	journal without acknowledged writes                 TestLossIsReported
//	full disk: reads, deletes, recovery of writes       TestDiskFull, TestFullDiskHeals, TestStartsOnFullDisk
//	disk that does not respond                          TestHungDisk
//	failed sync with many concurrent writers            TestFailedSync, TestEverybodyInFlightIsAnswered
//
// # Quota
//
// These tests check over HTTP that quotas are never exceeded, never reject requests below their
// limit, and report the usage. They cover every kind of usage, concurrency, dry runs and failures.
// TestQuotasOverKills covers kills of the process.
//
// # Simulation
//
// These tests run the whole server, from HTTP to the journal, on a disk, a network and a clock that
// a seed controls. They compare the responses over several lifetimes with a plain map.
//
// A simulationHistory is the run of one seed. In each life the server starts on the remains of the
// last one and catches up. Then it gets creates, updates with correct and wrong versions,
// concurrent patches, deletes, reads and lists, until its disk fails.
//
// The seed decides at which operation the disk fails, and how:
//
//   - The machine crashes, and each unsynced name, length and sector is kept or lost.
//   - An operation fails.
//   - There is no space for a while.
//
// It also decides which responses the network loses, and how the clock jumps, forward and back.
//
// Invariants:
//
//   - A response is that of the map.
//   - An acknowledged write exists in the next life; any other is applied completely or not at
//     all.
//   - Versions increase over all lives.
//   - A full disk changes nothing.
//   - A watch that resumes from an earlier version delivers the same events again.
//   - A list and the events after it lead to the next list.
//
// Between the writes, each history also checks general promises: writes without changes, dry runs,
// deletes with another uid, initial events, finalizers, ownership by apply, pages, lists by label
// and field, and a second namespace with a common name prefix. After each start, the events of a
// watch with a selector must follow from those of a watch without one.
//
// The simulation has no authentication, authorization, admission (and so no quotas), controllers,
// or several servers on one log. It does not use the operating system's disk either. Other tests
// cover their faults.
//
// A seed does not control the order in which goroutines run. The requests of a history are
// sequential, except for the concurrent patches, whose order does not matter to the map. The seeds
// of histories that have failed are in testdata/simulation/seeds, and always run first.
// TROUPE_SEED=n runs history n alone.
//
// # Watch
//
// These tests compare lists and watches with a log of all commits, under random histories and with
// many selectors. Invariants:
//
//   - All chunks of one list have one resource version, and contain no gap and no duplicate.
//   - A list at an exact version is the state at that version. One not older than a version is at
//     that version or a later one. A future version is never answered with older data.
//   - Events are ordered by version, without duplicates, and none of the log is missing, for
//     every selector. An object that starts to match a selector is ADDED, one that stops is
//     DELETED.
//   - A watch that resumes from a version it has received gets exactly the rest, even over a
//     restart. A list at N together with the events from N to M is the list at M.
//   - A bookmark's version is at least that of every event before it, and lower than that of any
//     event after it.
//   - A watch that does not read costs bounded memory, delays no others, and gets 410 when the
//     unread events have left the history. A disconnected client leaves no goroutine, descriptor
//     or memory.
package storage
