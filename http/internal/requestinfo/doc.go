// Package requestinfo parses the request line, once and strictly.
//
//	Target  the request target: split into segments at raw slashes, then decoded
//	Query   the query, searched without parsing
//	Info    verb, group, version, resource, name
//	ID      a random request id
//
// Routing, authorization, audit, metrics, and the store all use the same Info. Otherwise
// authorization could see another request than the one that is served. For example, fasthttp
// normalizes /livez/../api/v1/secrets to /api/v1/secrets. For the same reason, paths that parsers
// may read differently are rejected: empty and dot segments, control characters, and
// percent-encoded slashes, percent signs, and NULs.
package requestinfo
