// Package certificates holds the controllers of certificates: those that take a CertificateSigningRequest from its
// creation to its end, and those that publish the roots by which clients recognise the server.
//
//	Approver              approves requests of nodes for their client certificates
//	Signer                signs what is approved, for the signers that every cluster has
//	Cleaner               deletes requests that are over
//	RootCAPublisher       keeps a ConfigMap with the server's CAs in every namespace
//	TrustBundlePublisher  keeps a ClusterTrustBundle with them
//
// A signing request is what its object says of who asks, whom, and for what (signingRequest); a policy is what a
// signer asks of it (policy.go). Decisions are conditions of the request: Approved and Denied are made once and never
// taken back, Failed says that the signer cannot sign. All are written in the version of the request that was read, so
// nothing is ever signed that has been denied since, and a request has one certificate, whoever else signs.
//
// The controllers decide by what the object says, which a requester cannot write: the server fills in who asks. They
// write as the server itself and pass no authorization; that a user may have their request approved is asked of the
// authorizer by name.
//
// All but the publishers work on one queue of names each, and read the request again when its turn comes. So events
// may come twice, late or for requests that are gone, and a restart needs nothing but the objects.
package certificates
