package authn

import "slices"

// IntersectAudiences returns the audiences in both lists, without duplicates, in the order of
// asked.
func IntersectAudiences(asked, good []string) (both []string) {
	for _, audience := range asked {
		if slices.Contains(good, audience) && !slices.Contains(both, audience) {
			both = append(both, audience)
		}
	}
	return both
}
