package discovery

import (
	"strings"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/openapi"
)

// OpenAPIProtobuf returns the media type of the Protobuf format for an OpenAPI version, such as
// "v2".
func OpenAPIProtobuf(version string) string {
	return "application/com.github.proto-openapi.spec." + version + ".v1.0+protobuf"
}

// OpenAPIFormat selects a format by the Accept header. ok is false if none is acceptable. Clients
// also request Protobuf by an older name that is not a valid media type.
func OpenAPIFormat(accept, version string) (best openapi.Format, ok bool) {
	if accept == "" {
		return openapi.JSON, true
	}
	highest := 0.0
	for accept != "" {
		var item string
		item, accept, _ = strings.Cut(accept, ",")
		mediaType, params, _ := strings.Cut(item, ";")
		f := openapi.JSON
		switch strings.ToLower(strings.TrimSpace(mediaType)) {
		case negotiate.TypeJSON, "application/*", "*/*":
		case OpenAPIProtobuf(version), "application/com.github.proto-openapi.spec." + version + "@v1.0+protobuf":
			f = openapi.Protobuf
		default:
			continue
		}
		// The comparison is strict, so that among equal weights the first format wins.
		if q, valid := negotiate.Quality(params); valid && q > highest {
			best, ok, highest = f, true, q
		}
	}
	return best, ok
}
