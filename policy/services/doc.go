// Package services finds the addresses of Services of the cluster, for clients in this process.
//
// A Resolver reads the Service and its EndpointSlices. Since nothing in this process balances between
// endpoints, and the address of a Service may lead nowhere from here, the ready endpoints come first, in random
// order, with the port that the Service's port stands for; the address of the Service itself is used where it has no
// slices. ViaClusterIP has it the other way round. Check says what keeps a Service from being reached, as far as objects
// tell, and Notify when that may have changed. Addresses may also be given by hand, for use outside of a cluster.
//
// The Resolver begins to follow EndpointSlices when it is first asked: a server that asks no Service keeps none.
package services
