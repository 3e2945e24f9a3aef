package negotiate

import "strings"

// ZPage reports whether a diagnostic page is returned as an object (true) or as text (false). ok is
// false if the client accepts neither. A client must name the group, version and kind to get an
// object, so that a new default version cannot break the client. Without an Accept header the page
// is text.
func ZPage(accept, group, version, kind string) (object, ok bool) {
	if strings.TrimSpace(accept) == "" {
		return false, true
	}
	highest := 0.0
	for item := range strings.SplitSeq(accept, ",") {
		mediaType, params, _ := strings.Cut(item, ";")
		c, valid := parseAcceptParams(params)
		if !valid || !(c.q > highest) {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(mediaType)) {
		case TypeJSON, "application/*":
			if c.group != group || c.version != version || c.shape != kind {
				continue
			}
			object, ok, highest = true, true, c.q
		case "text/plain", "text/*", "*/*":
			if c.shape != "" {
				continue
			}
			object, ok, highest = false, true, c.q
		}
	}
	return object, ok
}
