// Package requestinfo parses the request line, once and strictly.
//
//	Target  the request target: split into segments at raw slashes, then decoded
//	Query   the query, searched without parsing
//	Info    verb, group, version, resource, name
//	ID      a random request ID
//
// Routing, authorization, audit, metrics, and the store use the same Info, so the server serves
// exactly the authorized request. fasthttp's normalized path is not used, because it turns
// /livez/../api/v1/secrets into /api/v1/secrets. Ambiguous paths are rejected: empty and dot
// segments, control characters, and percent-encoded slashes, percent signs, and NULs.
package requestinfo
