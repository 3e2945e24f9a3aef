// Package simulation runs the whole server, from its HTTP front to its journal, on a disk, a network and a clock that a seed decides, through several
// lifetimes, and holds what it answers against a plain map.
//
// A history is what one seed makes: in each life the server starts on what the last one left, catches up, and is asked to create, update with right and
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
// once, whose order the map does not need to know. A seed whose history has failed once stands in testdata/seeds, and is run first ever after.
// TROUPE_SEED=n runs history n alone.
package simulation
