// Package reconcile is the framework of all controllers. A controller declares what it watches, how an object becomes a
// key, and how a key is reconciled; the framework waits for the initial objects, queues, runs workers, retries with
// backoff, and stops.
//
//	Env         the store, the kinds and the log; the controllers of one Env share its caches and the limits of its Events
//	Client      reads and writes the objects of one kind, in the version that was read
//	Controller  watches, a queue of keys, and Reconcile
//	Informer    delivers the objects of a kind and their changes; it keeps keys only
//	Cache       keeps a view of each object of a kind, by key and by controller
//	Claimer     adopts and releases dependents as their labels say
//	Recorder    writes Events; similar ones are combined, and each object has its share
//	Workqueue   holds each key once, and retries what has failed
//	Schedule    holds a time for each key
//	Metrics     the figures of all queues, which find it in the context of their controller
//
// Controllers keep no state but in memory. A handler notes what has changed and adds a key; a worker reads the object of
// that key, compares it with the desired state, and writes the difference. A write that comes too late is a conflict,
// and the key is processed again. So a process may end at any point of the work: the next one is told of every object
// and finds what is left to do. A controller may keep the Key of an object; what else it remembers is a meta.Text or a
// copy, as a string of an object holds all of its JSON in memory.
//
// A Cache takes the responses to writes before the writer goes on, as well as the events of a watch, and keeps the newer
// of the two. So no controller decides on a state that is older than its own writes, and no expectations are needed.
package reconcile
