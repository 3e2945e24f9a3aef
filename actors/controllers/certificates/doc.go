// Package certificates holds the controllers that process CertificateSigningRequests, and those
// that publish the server's CAs.
//
// Approver              approves client certificate requests of nodes
// Signer                signs approved requests for the built-in signers
// Cleaner               deletes old requests
// RootCAPublisher       keeps a ConfigMap with the server's CAs in every namespace
// TrustBundlePublisher  keeps a ClusterTrustBundle with them
//
// signingRequest is a decoded request; policy.go has the requirements of the signers. Decisions are
// conditions: Approved and Denied are final, Failed means that the signer cannot sign. All are
// written with the resourceVersion that was read, so that a denied request is never signed, and
// each request gets one certificate even with other signers.
//
// Decisions rely on fields that the server sets, such as the requester. The controllers write
// without authorization; whether a requester's request may be approved is decided by the
// authorizer.
//
// All but the publishers use a queue of names and read the request before they process it. So
// events may be duplicate or late, and a restart needs only the objects.
package certificates
