// Package certificates provides controllers that process CertificateSigningRequests and controllers
// that publish the server's CAs.
//
//	Approver              approves nodes' client certificate requests
//	Signer                signs approved requests for the built-in signers
//	Cleaner               deletes old requests
//	PodRequestCleaner     deletes old PodCertificateRequests
//	RootCAPublisher       maintains a ConfigMap with the server's CAs in every namespace
//	TrustBundlePublisher  maintains a ClusterTrustBundle with the server's CAs
//
// signingRequest is a decoded request. policy.go has the signers' requirements. Decisions are
// conditions: Approved and Denied are final, and Failed means that the signer cannot sign. Every
// write has the resourceVersion as a precondition. A denied request is therefore never signed, and
// each request gets only one certificate, even if several signers process it.
//
// Decisions rely only on fields that the server sets, such as the requester. Whether a request may
// be approved depends on the requester's permissions. The controllers' own writes are not
// authorized.
package certificates
