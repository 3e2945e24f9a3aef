// Package certificates validates and defaults CertificateSigningRequests, ClusterTrustBundles and
// PodCertificateRequests.
package certificates
