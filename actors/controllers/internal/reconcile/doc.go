// Package reconcile is the framework of all controllers. A controller declares what it watches, how
// an object maps to a key, and how a key is reconciled. The framework waits for the initial
// objects, queues keys, runs workers, retries with backoff, and stops.
//
//	Env         the store, kinds and log; its controllers share caches and Event limits
//	Client      reads and writes the objects of one kind
//	Controller  watches, a queue of keys, and Reconcile
//	Informer    delivers the objects of a kind and their changes; it keeps keys only
//	Cache       keeps a view of each object of a kind, by key and by controller
//	Claimer     adopts and releases dependents according to their labels
//	Recorder    writes Events, combined and rate-limited per object
//	Workqueue   holds each key once, and retries failures
//	Schedule    holds a time for each key
//	Metrics     metrics of all queues, which find it in their controller's context
//
// Controllers keep state in memory only. A handler adds a key; a worker reads the object of that
// key, compares it with the desired state, and writes the difference. A late write is a conflict,
// and the key is processed again. So a process may end at any point: its successor lists every
// object and finds the remaining work. Controllers may retain the Key of an object; other retained
// strings must be a meta.Text or a copy, because a string of an object keeps its whole JSON alive.
//
// A Cache takes the responses to writes before the writer continues, as well as watch events, and
// keeps the newer state. So no controller decides on a state older than its own writes, and no
// expectations are needed.
package reconcile
