// Package certificates validates and defaults CertificateSigningRequests and ClusterTrustBundles.
package certificates
