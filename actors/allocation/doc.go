// Package allocation gives out what all Services share: cluster IPs and node ports.
//
// Its nouns:
//
//	ServiceAllocator   the mutation.Allocator of Services: the ranges, and who owns what of them
//	table              the owners of each address, or of each port
//	serviceAllocation  what one change acquires, and what it releases when it is stored
//	specUpdate         a Service's change from one spec to another, which is completed
//
// An allocation acquires at once what the new state has beyond the old one, so that nobody else
// gets it. What the old state has beyond the new one is released when the change is stored
// (Commit). If the change does not happen (Release), what was acquired is released, and nothing else.
//
// Invariants:
//
//   - What a stored Service has, it owns in the table. What it owns beyond that belongs to a
//     change that is not stored yet.
//   - An address or a port has one owner. Only recovery may give it a second one, if two stored
//     Services have it; it is free again when both have released it.
//   - A Service may acquire the same thing again while an earlier change of its own, which
//     releases it, is not stored yet: so the table counts acquisitions.
//   - The first address of the first range belongs to the service of the API itself.
//
// Many goroutines call it at once. One mutex guards the tables. It is held for map operations only:
// the state is small, every call is short and must see all others, and an actor would only add
// a round trip to each.
package allocation
