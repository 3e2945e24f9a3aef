package negotiate

import (
	"slices"
	"strings"
)

// ZPageVersions lists the versions of diagnostic pages. Only the first is not deprecated.
var ZPageVersions = []string{"v1beta1", "v1alpha1"}

// ZPage returns the media type of a diagnostic page, or "" if none is acceptable. For an object, it
// also returns the version. A client that wants an object must name its group, version and kind, so
// that a new default version cannot break the client.
func ZPage(accept, group, kind string) (mediaType, version string) {
	if strings.TrimSpace(accept) == "" {
		return TypeText, ""
	}
	highest := 0.0
	for item := range strings.SplitSeq(accept, ",") {
		asked, params, _ := strings.Cut(item, ";")
		c, valid := parseAcceptParams(params)
		if !valid || !(c.q > highest) {
			continue
		}
		switch asked = strings.ToLower(strings.TrimSpace(asked)); asked {
		case TypeJSON, TypeYAML, "application/*":
			if c.group != group || c.shape != kind || !slices.Contains(ZPageVersions, c.version) {
				continue
			}
			if mediaType = TypeJSON; asked == TypeYAML {
				mediaType = TypeYAML
			}
			version, highest = c.version, c.q
		case "text/plain", "text/*", "*/*":
			if c.shape != "" {
				continue
			}
			mediaType, version, highest = TypeText, "", c.q
		}
	}
	return mediaType, version
}
