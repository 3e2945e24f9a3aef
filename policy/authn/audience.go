package authn

import "slices"

// IntersectAudiences are the audiences that are in both lists, each once, in the order of the first.
func IntersectAudiences(asked, good []string) (both []string) {
	for _, audience := range asked {
		if slices.Contains(good, audience) && !slices.Contains(both, audience) {
			both = append(both, audience)
		}
	}
	return both
}
