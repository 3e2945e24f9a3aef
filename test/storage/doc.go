// Package storage tests that no acknowledged write is lost and that all clients see one history,
// despite kills and disk faults. It also tests etcd, watches and quotas.
//
// Each topic below has its own file name prefix.
//
// # Crash
//
// These tests repeatedly kill the daemon under load on the same data directory. After each start,
// they check that no acknowledged write is lost or changed.
//
// Each worker owns a few keys and has at most one write in flight. The model of a key is therefore
// its last acknowledged state and at most one write that may have been applied. Every object
// contains a checksum of its data, which reveals partial writes. A concurrent watch records the
// events delivered before the kill.
//
// # Encryption
//
// These tests cover encryption at rest: the data on disk, the required keys, key rotation, and
// objects whose key is missing.
//
// # Linear
//
// In these tests, clients race on a few objects, and porcupine checks that the responses are
// linearizable. Of two updates with the same resource version, one succeeds and the other gets 409.
// Of two creates with the same name, one gets 201 and the other 409. Concurrent patches are all
// applied.
//
// # Migrate
//
// These tests migrate objects between data directories and etcd, and back up both.
//
// # Operations
//
// These tests cover resources that are created but not stored: evictions, bindings, token reviews
// and access reviews. They also cover the related subresources and versions.
//
// # Process
//
// These tests cover the daemon as a process: the binary, its exit status, signals, files and
// commands. Tests that need a failing disk run the daemon in the test process, on a fault-injecting
// file system.
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
// TestQuotasOverKills also kills the process.
//
// # Simulation
//
// These tests run the whole server, from HTTP to the journal. A seed controls the simulated disk,
// network and clock. Over several lifetimes of the server, the tests compare its responses with a
// plain map.
//
// A simulationHistory is the run of one seed. In each lifetime, the server starts on the data of
// the previous one and catches up. It then receives creates, updates with correct and wrong
// versions, concurrent patches, deletes, reads and lists until its disk fails.
//
// The seed decides at which operation the disk fails, and how:
//
//   - The machine crashes, and each unsynced name, length and sector is kept or lost.
//   - An operation fails.
//   - There is no space for a while.
//
// The seed also decides which responses the network loses, and how the clock jumps forward and
// back.
//
// Invariants:
//
//   - Every response equals the one computed from the map.
//   - An acknowledged write exists in the next lifetime. Any other write is applied completely or
//     not at all.
//   - Resource versions increase across all lifetimes.
//   - A write that fails on a full disk changes nothing.
//   - A watch that resumes from an earlier version delivers the same events again.
//   - The events between two lists turn the first into the second.
//
// Between writes, each history also checks no-op writes, dry runs, deletes with a wrong UID,
// initial events, finalizers, ownership by apply, pages, and lists by label and field. A second
// namespace shares a name prefix with the first. After each start, the events of a watch with a
// selector must follow from those of a watch without one.
//
// The simulation does not include authentication, authorization, admission, controllers or a real
// disk. Other tests cover faults in these.
//
// A seed does not control the order in which goroutines run. The requests of a history are
// sequential, except for the concurrent patches, whose order does not matter to the map.
// testdata/simulation/seeds lists the seeds of failed histories, which always run first.
// TROUPE_SEED=n runs history n alone.
//
// TestSimulationReplicas simulates two or three servers on a model of etcd (test/etcdmodel). Each
// history runs in a bubble of testing/synctest, where minutes of timeouts pass in milliseconds. Its
// steps are requests through any server, faults of links and members, crashes, pauses, clock jumps,
// compactions, a full etcd, and restores from backups with and without higher revisions.
//
// Invariants:
//
//   - The responses are linearizable, as in the tests above.
//   - Versions are never reused, and increase in the order of requests.
//   - A watch that moves between servers delivers each change once, or gets 410. All watches have
//     the same event at a version.
//   - No two Services have one address or port at the same time, and a quota limits their number.
//     A leader does not write after another one has taken over.
//   - A server ends only after a restore. After it, no server returns objects that the backup
//     lacks.
//   - Without faults, all servers list the same objects, with every acknowledged write.
//
// testdata/simulation/replicas lists seeds of failed histories. After a failure, the test drops
// steps as long as the rest fails, and prints what is left.
//
// # Watch
//
// These tests compare lists and watches with a log of all commits, under random histories and with
// many selectors. Invariants:
//
//   - All chunks of one list have one resource version, and contain no gap and no duplicate.
//   - A list at an exact version returns the objects at that version. A list with NotOlderThan
//     returns that version or a later one. A request for a future version never returns older data.
//   - For every selector, events are ordered by version, without duplicates and without gaps. An
//     object that starts to match a selector is ADDED, and one that stops is DELETED.
//   - A watch that resumes from a version it has received gets exactly the remaining events, even
//     across a restart. A list at N together with the events from N to M equals the list at M.
//   - The version of a bookmark is at least that of every event before it, and lower than that of
//     any event after it.
//   - A watch that does not read uses bounded memory, delays no other watch, and gets 410 when its
//     unread events have left the history. A disconnected client leaves no goroutine, descriptor
//     or memory behind.
package storage
