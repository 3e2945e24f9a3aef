// Package storage tests that nothing acknowledged is lost and that all clients see one history: kills, disks, etcd, watches, quotas.
//
// The files of a topic begin with its name. The topics:
//
// # Crash
//
// These tests kill the daemon's binary under load, repeatedly on the same data directory, and
// checks after each start that no acknowledged write is lost or changed.
//
// Each worker owns a few keys and has at most one write in flight. So the model knows for every key
// the last acknowledged state and at most one write that may or may not have been applied. Every
// object carries a checksum of its data, which reveals partially applied writes. In parallel, a
// watch records the events that were delivered before the kill.
//
// # Encryption
//
// These tests test encryption at rest from outside: what reaches the disk, which keys are needed, how keys are changed, and
// what becomes of objects whose key is missing.
//
// # Linear
//
// These tests let clients race on few objects and has porcupine decide whether what
// they were answered could have come from one object after the other.
//
// So reads and writes of one object are linearizable: of two updates that carry the same resource version
// one succeeds and the other gets 409, of two creates of one name one gets 201 and the other 409, and
// concurrent patches are all applied.
//
// # Migrate
//
// These tests move states between data directories and etcd, and backs up both.
//
// # Operations
//
// These tests test what is created and not stored, over HTTP: evictions, bindings,
// reviews of tokens and of access; and the sub-resources and versions that belong to them.
//
// # Process
//
// These tests test the daemon as a process: the built binary, its exit status, signals, files
// and commands. Only the tests that need a failing disk run the daemon in the test's own process,
// on an injected file system.
//
//	data of an earlier version                          TestUpgrade
//	journal that lacks acknowledged writes              TestLossIsTold
//	full disk: reads, deletes, recovery of writes       TestDiskFull, TestFullDiskHeals, TestStartsOnFullDisk
//	disk that does not respond                          TestHungDisk
//	failed sync with many concurrent writers            TestFailedSync, TestEverybodyInFlightIsAnswered
//
// # Quota
//
// These tests test over HTTP that quotas of namespaces are never exceeded, never refuse below their
// limit, and tell what is used: for every kind of usage, and under concurrency, dry runs and failures.
// What they are after the process was killed is tested in package crash.
//
// # Simulation
//
// These tests run the whole server, from its HTTP front to its journal, on a disk, a network and a clock that a seed decides, through several
// lifetimes, and holds what it answers against a plain map.
//
// A simulationHistory is what one seed makes: in each life the server starts on what the last one left, catches up, and is asked to create, update with right and
// wrong versions, patch at once from several sides, delete, read and list, until its disk fails. The seed says at which operation of the disk and how: the machine
// crashes, and of what was not synced each name, length and sector is kept or lost; an operation fails; there is no room for a while. It says which
// answers the network loses, and where the clock jumps, forward and back.
//
// What must hold: an answer is the one that the map gives; what was acknowledged is there in the next life, and all else wholly or not at all; versions rise, over all lives;
// a full disk changes nothing; what a watch has told is told again by a watch that resumes from before it, and a list with the events after it is the next
// list.
//
// Between the writes, each history also checks what holds whatever has happened: writes that change nothing, dry runs, deletes of another life, initial events,
// finalizers, ownership by apply, pages, lists by label and field, and a second namespace whose name begins alike; after each start a watch with a selector
// must tell what follows from the events of one without.
//
// What it does not have: authentication, authorization, admission and so quotas, controllers, and several servers on one log. Their faults are for other
// suites, and so are those of the operating system, whose disk it does not use.
//
// What a seed does not decide is the order in which goroutines run: the requests of a history follow one another, but for the patches that are sent at
// once, whose order the map does not need to know. A seed whose history has failed once stands in testdata/simulation/seeds, and is run first ever after.
// TROUPE_SEED=n runs history n alone.
//
// # Watch
//
// These tests hold lists and watches against a log of all commits, under random histories and many
// selectors. What it checks:
//
//   - All chunks of one list share one resource version, and hold no gap and no duplicate.
//   - A list at an exact version is the state at that version; one that is not older than a version is at
//     that version or a later one; a version from the future is never answered with older data.
//   - Events are ordered by version, each version comes once, and none of the log is missing, for every
//     selector. An object that begins to match a selector is ADDED, one that ceases to is DELETED.
//   - A watch that resumes from a version that it was given gets exactly the rest, also over a restart. A
//     list at N together with the events from N to M is the list at M.
//   - A bookmark's version is at least that of every event before it, and lower than that of any after it.
//   - A watch that does not read costs bounded memory, delays no others, and gets 410 once what it has not
//     read has left the history. A client that goes away leaves no goroutine, descriptor or memory behind.
package storage
