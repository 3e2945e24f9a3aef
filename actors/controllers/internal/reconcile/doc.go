// Package reconcile is what every controller stands on: how it learns of objects, in which order it works, and how
// it changes them.
//
// Its nouns:
//
//	Store                what a controller needs of the store
//	EventHandler         gets every object of a kind and every change, from RunInformer or RunResourceInformer
//	Workqueue            holds each key once, and tries again what has failed
//	Metrics              the figures of all queues, which those find in the context of their controller
//	Schedule             holds a time for each key, and tells when it has come
//	PatchIfUnchanged     and its neighbours change or delete an object only in the version that was read
//
// Controllers keep no state but in memory. A handler notes what has changed and adds a key to the queue; a worker
// reads the object of that key, compares it with what should be, and writes the difference. A write that comes too
// late is a conflict, and the key is processed again. So a process may end at any point of the work: the next one
// is told of every object and finds what is left to be done.
//
// Nothing here keeps objects: an informer knows keys. A controller may keep the Key of an object; what else it
// remembers of one is a meta.Text or a copy, for a string of an object holds the whole JSON of it in memory.
package reconcile
