package discovery

import (
	"strings"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/openapi"
)

// OpenAPIProtobuf is the media type of the Protobuf form.
func OpenAPIProtobuf(version string) string {
	return "application/com.github.proto-openapi.spec." + version + ".v1.0+protobuf"
}

// OpenAPIFormat picks the format that an Accept header ranks highest. Clients ask for
// Protobuf under an older name as well, which is no valid media type.
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
		// The first of equal weight wins, hence the strict comparison.
		if q, valid := negotiate.Quality(params); valid && q > highest {
			best, ok, highest = f, true, q
		}
	}
	return best, ok
}
