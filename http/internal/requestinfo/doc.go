// Package requestinfo parses the request line, once and strictly.
//
//	Target  the request target: split into segments at raw slashes, then decoded
//	Query   the query, searched without parsing
//	Info    verb, group, version, resource, name
//	ID      a random request id
//
// Routing, authorization, audit, metrics, and the store all use the same Info. Parsing the path
// twice, or using the path normalized by fasthttp (/livez/../api/v1/secrets becomes
// /api/v1/secrets), could authorize another request than is served. For the same reason, paths that
// parsers may read differently are refused: empty and dot segments, control characters, and
// percent-encoded slashes, percent signs, and NULs.
package requestinfo
