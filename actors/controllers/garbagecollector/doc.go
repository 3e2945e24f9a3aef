// Package garbagecollector deletes dependents of deleted owners, by propagation policy.
//
// The Controller has a graph of owner references by uid, which it builds from a watch of every
// kind. One work queue holds dependents that may be garbage, and another holds owners whose
// finalizer may be due. Invariants:
//
//   - The graph only selects objects to examine. Decisions are made on the stored objects.
//   - An owner's finalizer is removed only after its dependents were listed from the store.
//   - An owner is absent if no object with its name has its uid. It is looked up in the
//     dependent's namespace, or in none for cluster-scoped kinds.
//   - An owner of an unknown kind, or a namespaced owner of a cluster-scoped dependent, is
//     assumed to exist, because its absence cannot be established.
//   - A dependent examined before its owner's kind was fully listed is examined again
//     afterwards.
package garbagecollector
