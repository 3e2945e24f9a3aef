// Package allocation hands out what all Services share: addresses and ports of nodes.
//
// Its nouns:
//
//	Services  the mutation.Claims of Services: the ranges, and who has what of them
//	register  the owners of each address, or of each port
//	claim     what one change takes, and what it lets go
//
// A claim takes what the new state has beyond the old one at once, so that nobody else
// gets it; what the old state has beyond the new one is given back when the change has
// landed. If it does not land, what was taken is given back, and nothing else.
//
// Invariants:
//
//   - What an object has in the store, its owner has in the register. What the register
//     has beyond that belongs to a change that is on its way.
//   - An address or a port has one owner. Only recovery may give it a second one, from
//     what is stored; then it is free when both have let it go.
//   - An owner may take the same thing again while an earlier change of its own, which
//     lets it go, is on its way: so takings are counted, not only noted.
//   - The first address of the first range belongs to the service of the API itself.
//
// Owners of objects call it concurrently. One mutex guards the registers and is held for
// map operations only, never while anybody is waited for: the state is small, every call
// is short and must see all others, and an actor would only add a round trip to each.
package allocation
