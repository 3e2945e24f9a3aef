// Package certificates holds the rules of CertificateSigningRequests, their approval and issued
// certificates, and of ClusterTrustBundles.
package certificates
