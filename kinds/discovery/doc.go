// Package discovery renders the catalog as discovery documents, and reads those of other servers.
// Documents are encoded once per catalog, because clients request them at every start. The ETag of
// an aggregated document is the quoted upper-case hexadecimal SHA-512 of its bytes.
package discovery
