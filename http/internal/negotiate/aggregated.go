package negotiate

import "strings"

// WantsAggregated reports whether an Accept header prefers the aggregated discovery document.
func (n *Names) WantsAggregated(accept string) (ok bool) {
	best := 0.0
	for accept != "" {
		var item string
		item, accept, _ = strings.Cut(accept, ",")
		mediaType, params, _ := strings.Cut(item, ";")
		c, valid := parseAcceptParams(params)
		if !valid || c.q <= best || n.encodingOfAccept(strings.TrimSpace(mediaType)) != JSON {
			continue
		}
		switch {
		case c.shape == "":
			ok, best = false, c.q
		case c.shape == "APIGroupDiscoveryList" && c.group == n.DiscoveryGroup && c.version == "v2":
			ok, best = true, c.q
		}
	}
	return ok
}
