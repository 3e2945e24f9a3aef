// Package requestinfo reads the first line of a request, once and strictly.
//
// Its nouns:
//
//	Target  the request target: split into segments at its raw slashes, then decoded
//	Query   the parameters, left as text and searched
//	Info    what is asked for: verb, group, version, resource, name
//	ID      a random name, for requests that bring none
//
// Everything that decides on a request decides on one Info: routing, authorization, audit, metrics and
// the store. If any of them parsed the path again, or looked at the path that fasthttp has normalized
// (/livez/../api/v1/secrets becomes /api/v1/secrets there), it might decide on another request than the
// one that is answered. For the same reason a path is refused that two parsers could read differently:
// with empty segments, dot segments, control characters, or with slashes, percent signs and NULs that are
// percent-encoded.
package requestinfo
