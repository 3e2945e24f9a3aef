// Package statefulset keeps the Pods of StatefulSets, which have a number, a name and volumes of their own that they
// keep when they are replaced.
//
//	set     one turn: a StatefulSet, its revisions and its Pods by ordinal
//	slot    an ordinal: its Pod if there is one, and of which revision the next one is
//	claims  the volume claims of an ordinal, and who owns them
//
// A set with OrderedReady does one thing in a turn, for the lowest ordinal first: create what is missing, wait until it
// is available, then go on; it scales down and updates from the highest ordinal. One with Parallel does everything at
// once, except updates, which keep within maxUnavailable.
//
// A Pod is deleted to be updated; the next turn makes it anew. Below the partition it is made of the current revision,
// else of the newest. When all Pods have the newest one it becomes the current one.
package statefulset
