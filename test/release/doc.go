// Command release writes the files of a release to a directory:
//
//	go run . -version 0.3.0 -out DIR [-key FILE] [-platforms linux/amd64,…] [-reproduce]
//
//	troupe_VERSION_OS_ARCH.tar.gz      the program with licenses, completion scripts and man pages;
//	                                   a .zip for Windows
//	troupe_VERSION_OS_ARCH.cdx.json    CycloneDX SBOM, from the program's build info
//	troupe_VERSION_ARCH.deb, .rpm      packages with a systemd unit and a system user
//	troupe_VERSION_oci.tar             OCI layout of an image for linux/amd64 and linux/arm64
//	troupe-VERSION.tgz                 Helm chart, from docs/deploy/chart
//	troupe.rb                          Homebrew formula
//	provenance.intoto.json             in-toto statement with SLSA provenance of the files above
//	SHA256SUMS, SHA256SUMS.sig         checksums and, with -key, their signature
//
// The sources are those of the checked-out commit. The working tree must be clean. The command
// clones the commit without tags, and then tags the clone, so that the build info contains the
// version. Files have the commit's time. The same commit, version and Go release therefore produce
// the same bytes. With -reproduce, the command rebuilds the program for the first platform with an
// empty cache, and compares the result.
//
// The release fails if a module has a license that is not in licenses.go.
//
// The key is a PKCS #8 PEM file with an Ed25519 or ECDSA key. To verify the files:
//
//	openssl pkeyutl -verify -pubin -inkey troupe.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
//	sha256sum --check SHA256SUMS
//
// For an ECDSA key, add -digest sha256.
package main
