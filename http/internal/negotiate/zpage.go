package negotiate

import "strings"

// ZPage picks how a page about the server goes out, of what an Accept header lists: as an object of that kind, or, where
// object is false, as text. What is acceptable has to be named with all its parameters, so that nobody relies on the
// version of the day; no header at all stands for text.
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
