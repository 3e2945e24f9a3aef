// Command release writes the files of a release to a directory:
//
//	go run . -version 0.3.0 -out DIR [-key FILE] [-platforms linux/amd64,…] [-reproduce]
//
//	troupe_VERSION_OS_ARCH.tar.gz      the program with licenses, completion scripts and man pages;
//	                                   a .zip for Windows
//	troupe_VERSION_OS_ARCH.cdx.json    its CycloneDX SBOM, from the build info of the program
//	troupe_VERSION_ARCH.deb, .rpm      packages with a systemd unit and a system user
//	troupe_VERSION_oci.tar             OCI layout of an image for linux/amd64 and linux/arm64
//	troupe-VERSION.tgz                 Helm chart, from docs/deploy/chart
//	troupe.rb                          Homebrew formula
//	provenance.intoto.json             in-toto statement with SLSA provenance of the files above
//	SHA256SUMS, SHA256SUMS.sig         checksums; with -key, their signature
//
// The sources are those of the commit that is checked out, which must have no changes. It is cloned
// without tags, and the clone is tagged, so that the build info has the version. Times in files are
// that of the commit. The same commit, version and Go release therefore give the same bytes.
// With -reproduce, the program for the first platform is built again with an empty cache, and
// compared.
//
// A module with a license that is not in licenses.go fails the release.
//
// The key is a PKCS #8 PEM file with an Ed25519 or ECDSA key. To verify the files:
//
//	openssl pkeyutl -verify -pubin -inkey troupe.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
//	sha256sum --check SHA256SUMS
//
// For an ECDSA key, add -digest sha256.
package main
