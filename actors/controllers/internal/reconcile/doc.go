// Package reconcile is the framework for all controllers. A controller declares its watches, how an
// object maps to a key, and how a key is reconciled.
//
//	Env         holds the store, the kinds, the log, and shared caches and Event limits
//	Client      reads and writes the objects of one kind
//	Controller  combines watches, a work queue of keys, and a reconcile function
//	Informer    delivers the objects of a kind and their changes; it keeps only keys
//	Cache       keeps a view of each object of a kind, by key and by controller
//	Claimer     adopts and releases dependents according to their labels
//	Recorder    writes Events, combined and rate-limited per object
//	Workqueue   is a queue without duplicates that retries failed keys with backoff
//	Schedule    enqueues keys at set times
//	Metrics     holds the metrics of all work queues of a process
//
// Controllers keep state in memory only, so the process may end at any time. Its successor lists
// every object and finds the remaining work. Controllers may retain an object's Key. Other retained
// strings must be a meta.Text or a copy, because a substring keeps the object's whole JSON in
// memory.
//
// Watch events update a Cache, and so do the responses to writes. The Cache keeps the newer version
// of an object. A write returns only after the Cache has been updated. Controllers therefore never
// act on an object older than their own writes, and they need no expectations.
package reconcile
