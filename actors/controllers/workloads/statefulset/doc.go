// Package statefulset manages the Pods of StatefulSets. Each Pod has an ordinal, a name and
// volumes, which stay the same when the Pod is replaced.
//
//	turn    one reconciliation: a StatefulSet, its revisions and its Pods by ordinal
//	slot    an ordinal and its Pod, if any
//	claims  the volume claims of an ordinal, and their owners
//
// With podManagementPolicy OrderedReady, a reconciliation changes one Pod at a time. It creates
// missing Pods from the lowest ordinal up, and waits until each Pod is available. It scales down
// and updates from the highest ordinal down. With Parallel, a reconciliation changes all Pods
// concurrently, except that updates respect maxUnavailable.
//
// An update deletes a Pod, and the next reconciliation creates it again. Pods below the partition
// get the current revision, and all others get the newest. When all Pods have the newest revision,
// it becomes the current one.
package statefulset
