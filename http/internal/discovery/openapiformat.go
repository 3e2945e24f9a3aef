package discovery

import (
	"strings"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/openapi"
)

// OpenAPIProtobuf returns the media type of Protobuf.
func OpenAPIProtobuf(version string) string {
	return "application/com.github.proto-openapi.spec." + version + ".v1.0+protobuf"
}

// OpenAPIFormat selects a format by Accept header. Clients also request Protobuf by an older name,
// which is not a valid media type.
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
		// Strict comparison: the first of equal weight wins.
		if q, valid := negotiate.Quality(params); valid && q > highest {
			best, ok, highest = f, true, q
		}
	}
	return best, ok
}
