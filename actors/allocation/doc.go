// Package allocation assigns the values that all Services share: cluster IPs and node ports.
//
// ServiceAllocator has the ranges and two tables of holders, one for addresses and one for ports. A
// serviceAllocation records which values one change acquires and releases.
//
// Values that only the new spec needs are acquired before the change is committed, so that no other
// Service gets them. Values that only the old spec needed are released when the change is applied.
// If the change is not committed, only the acquired values are released.
//
// Other servers may share the log. Observe adds their commits to the tables. Until these arrive,
// two servers may acquire the same address. Each change therefore carries Claims for the values
// that it acquires and releases, and the log refuses conflicting ones.
//
// Invariants:
//
//   - A stored Service holds its values in the tables. Additional values belong to a change that is
//     not applied yet, or has an unknown outcome.
//   - An address or a port has one holder. Only Observe adds a second one, for inconsistent data or
//     for a commit of another server. The value becomes free when both holders have released it.
//   - A Service may acquire a value again before its earlier release of that value is applied.
//     Acquisitions are therefore counted.
//   - The first address of the first range belongs to the API server's Service.
//
// Owners of objects call the allocator concurrently. One mutex guards the tables and is held for
// map operations only.
package allocation
