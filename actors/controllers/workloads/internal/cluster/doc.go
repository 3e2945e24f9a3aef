// Package cluster is what all controllers of workloads share: the latest states of the objects they work on, the way
// they change them, and the Events that tell of it.
//
//	Cache       the latest state of every object of a kind, by key and by controller; one for each kind, for all
//	Pod         what controllers need of a Pod, without the rest
//	Item        an object of any other kind, with its selector
//	Cluster     the caches, and every write
//	Recorder    writes Events, and combines those that say the same
//	Leader      tells whether another process runs controllers for the same cluster, for which these stand back
//	Controller  a queue of keys and its workers
//
// A cache takes what a write has answered before the writer goes on, as well as what a watch delivers, and keeps the
// newer of the two. So no controller decides on a state that is older than its own writes: what it has created it
// counts, and what it has deleted it does not delete again. Nothing has to be expected, and nothing is lost when an
// expected event never comes.
//
// Objects of others are adopted and released as their labels say (Claim). Whoever adopts has looked whether it is
// itself being deleted, in the store and not in the cache.
package cluster
