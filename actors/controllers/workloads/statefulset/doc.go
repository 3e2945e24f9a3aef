// Package statefulset manages the Pods of StatefulSets. Each Pod has an ordinal, a name and
// volumes, which remain when the Pod is replaced.
//
//	turn    one reconciliation: a StatefulSet, its revisions and its Pods by ordinal
//	slot    an ordinal and its Pod, if any
//	claims  the volume claims of an ordinal, and their owners
//
// With OrderedReady, a turn takes one step and starts at the lowest ordinal. It creates a missing
// Pod and waits until the Pod is available. It scales down and updates from the highest ordinal.
// With Parallel, a turn changes all Pods at once, except that updates respect maxUnavailable.
//
// An update deletes a Pod, and the next turn creates it again. Pods below the partition get the
// current revision, and all others the newest. When all Pods have the newest revision, it becomes
// the current one.
package statefulset
