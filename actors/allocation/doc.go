// Package allocation hands out what all Services share: cluster IPs and node ports.
//
// ServiceAllocator has the ranges, and one table of holders for addresses and one for ports.
// A serviceAllocation is what one change acquires and releases.
//
// What the new state has beyond the old one is acquired before the change is committed, so that no
// other Service gets it; what the old state has beyond the new one is released when the change is
// applied. If the change is not committed, what it acquired is released, and nothing else.
//
// Other servers may share the log. What they commit is accounted for as it arrives (Observe). Until
// then the same address may be acquired here; so a change carries the names of what it acquires and
// releases (Claims), and the log refuses one that takes what another Service has.
//
// Invariants:
//
//   - What a stored Service has, it holds in the tables. What the tables have beyond that belongs to
//     a change that is not applied yet, or of which it is not known whether it was committed.
//   - An address or a port has one holder. A second one comes only from what is stored (Observe): by
//     recovery, if the data is inconsistent, or for a moment, until the log has refused the change
//     here. It is free when both have released it.
//   - A Service may acquire the same thing again while an earlier change of its own that releases it
//     is not applied yet: so holdings are counted.
//   - The first address of the first range belongs to the service of the API itself.
//
// Owners of objects call it concurrently. One mutex guards the tables and is held for map operations
// only: the state is small, every call is short and must see all others, and an actor would only add
// a round trip to each.
package allocation
