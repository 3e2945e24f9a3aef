package negotiate

import "strings"

// WantsAggregated is the version of the aggregated document that an Accept header asks
// for, unless a plain one ranks above it.
func (n *Names) WantsAggregated(accept string) (version string, ok bool) {
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
			version, ok, best = "", false, c.q
		case c.shape == "APIGroupDiscoveryList" && c.group == n.DiscoveryGroup && (c.version == "v2" || c.version == "v2beta1"):
			version, ok, best = c.version, true, c.q
		}
	}
	return version, ok
}
