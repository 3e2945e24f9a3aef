// Package allocation allocates cluster IPs and node ports to Services.
//
// ServiceAllocator contains the ranges and two tables that map addresses and ports to their
// holders. A serviceAllocation records the values that one change acquires and releases.
//
// Values that only the new spec needs are acquired before the change is committed, so that no other
// Service gets them. Values that only the old spec needed are released when the change is applied.
// If the change is not committed, only the acquired values are released.
//
// Other servers may share the log. Observe records their commits in the tables. Until those commits
// arrive, two servers may acquire the same address. Each change therefore carries Claims for the
// values that it acquires and releases, and the log rejects conflicting Claims.
//
// Invariants:
//
//   - A stored Service holds its values in the tables. Any additional values belong to a
//     change that is not yet applied or whose outcome is unknown.
//   - An address or port has one holder. Only Observe adds a second holder, for inconsistent
//     data or another server's commit. The value becomes free once both holders release it.
//   - A Service may reacquire a value before its earlier release of that value is applied.
//     Acquisitions are therefore counted.
//   - The first address of the first range belongs to the API server's Service.
//
// Actors call the allocator concurrently. One mutex guards the tables and is held only for map
// operations.
package allocation
