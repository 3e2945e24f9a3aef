// Package allocation assigns what all Services share: cluster IPs and node ports.
//
// ServiceAllocator has the ranges, and one table of holders for addresses and one for ports. A
// serviceAllocation is what one change acquires and releases.
//
// What the new state has beyond the old one is acquired before the change is committed, so that no
// other Service gets it. What the old state has beyond the new one is released when the change is
// applied. If the change is not committed, only the acquired values are released.
//
// Other servers may share the log. Their commits are accounted for as they arrive (Observe). Until
// then the same address may be acquired here, so each change carries Claims for what it acquires
// and releases, and the log refuses conflicts.
//
// Invariants:
//
//   - A stored Service holds its values in the tables. Additional values belong to a change that is
//     not applied yet, or has an unknown outcome.
//   - An address or a port has one holder. A second one comes only from stored objects (Observe):
//     inconsistent data, or a conflict that the log is about to refuse. The value is free when both
//     have released it.
//   - A Service may acquire a value again while its earlier change that releases it is not applied
//     yet, so holdings are counted.
//   - The first address of the first range belongs to the Service of the API itself.
//
// Owners of objects call it concurrently. One mutex guards the tables and is held for map
// operations only; an actor would only add a round trip to each call.
package allocation
