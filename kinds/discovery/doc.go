// Package discovery encodes the catalog as discovery documents and decodes those of other servers.
// Documents are encoded once per catalog, because every client requests them when it starts. The
// ETag of an aggregated document is the quoted upper-case hexadecimal SHA-512 of its bytes.
package discovery
