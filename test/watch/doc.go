// Package watch holds lists and watches against a log of all commits, under random histories and many
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
package watch
