// Package statefulset manages the Pods of StatefulSets, which have an ordinal, a name and volumes
// that survive their replacement.
//
// turn    one reconciliation: a StatefulSet, its revisions and its Pods by ordinal
// slot    an ordinal and its Pod, if any
// claims  the volume claims of an ordinal, and their owners
//
// With OrderedReady a turn takes one step, starting at the lowest ordinal: it creates a missing Pod
// and waits until it is available. It scales down and updates from the highest ordinal. With
// Parallel it does everything at once, except updates, which observe maxUnavailable.
//
// An update deletes a Pod, and the next turn recreates it: of the current revision below the
// partition, else of the newest. When all Pods have the newest revision it becomes the current one.
package statefulset
