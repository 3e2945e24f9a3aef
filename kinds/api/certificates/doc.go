// Package certificates holds the rules of CertificateSigningRequests and ClusterTrustBundles.
package certificates
