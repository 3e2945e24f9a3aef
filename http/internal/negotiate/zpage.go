package negotiate

import "strings"

// ZPage selects whether a page about the server is returned as an object of that kind or as text.
// An object must be requested with all parameters, so that clients do not rely on the current
// version. Without a header it is text.
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
