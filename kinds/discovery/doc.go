// Package discovery encodes the catalog as discovery documents and decodes those of other servers.
// Documents are encoded once per catalog, because every client requests them at startup. An
// aggregated document's ETag is the quoted upper-case hexadecimal SHA-512 of its bytes.
package discovery
