package discovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// An UnknownError reports that the server has no resource with the given name.
type UnknownError struct {
	Name   string
	Broken []string // group versions with failed discovery, which may contain it
}

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("error: the server doesn't have a resource type %q", e.Name)
	if len(e.Broken) > 0 {
		text += "; no discovery of " + strings.Join(e.Broken, ", ") + ": its server is unavailable"
	}
	return text
}

// Find returns the resource for a plural, singular, short name or kind. The word may also contain a
// group, or a version and a group, as in deployments.apps or deployments.v1.apps. A prefix of the
// group is enough. Plurals take precedence over short names.
func (c *Catalog) Find(word string) (*Resource, error) {
	word = strings.ToLower(word)
	name, rest, _ := strings.Cut(word, ".")
	version, group, versioned := strings.Cut(rest, ".")
	if !versioned && c.isVersion(rest) { // pods.v1. for the core group
		version, group, versioned = rest, "", true
	}
	for _, fits := range []func(*Resource) bool{
		func(r *Resource) bool {
			return versioned && r.Version == version && r.Group == strings.TrimSuffix(group, ".")
		},
		func(r *Resource) bool { return rest == "" || r.Group == rest },
		func(r *Resource) bool { return strings.HasPrefix(r.Group, rest) },
	} {
		for _, matches := range matchers {
			for _, r := range c.Resources {
				if matches(r, name) && fits(r) {
					return r, nil
				}
			}
		}
	}
	return nil, &UnknownError{word, c.Broken}
}

var matchers = []func(*Resource, string) bool{
	func(r *Resource, name string) bool { return r.Name == name },
	func(r *Resource, name string) bool { return r.Singular == name && name != "" },
	func(r *Resource, name string) bool { return slices.Contains(r.ShortNames, name) },
	func(r *Resource, name string) bool { return strings.ToLower(r.Kind) == name },
}

func (c *Catalog) isVersion(s string) bool {
	return slices.ContainsFunc(c.Resources, func(r *Resource) bool { return r.Version == s })
}

// Category returns the preferred resources of a category such as "all", or nil if it is unknown.
func (c *Catalog) Category(name string) (all []*Resource) {
	for _, r := range c.Preferred() {
		if slices.Contains(r.Categories, name) {
			all = append(all, r)
		}
	}
	return all
}

// ForKind returns the resource of a kind, or nil.
func (c *Catalog) ForKind(apiVersion, kind string) *Resource {
	for _, r := range c.Resources {
		if r.Kind == kind && r.APIVersion() == apiVersion {
			return r
		}
	}
	return nil
}

// Advice suggests the served apiVersion and kind for one that the server does not serve. It
// corrects the version, the case of the kind, and groups of the other naming profile. It returns ""
// if no served kind is similar.
func (c *Catalog) Advice(apiVersion, kind string) string {
	group, _, hasGroup := strings.Cut(apiVersion, "/")
	if !hasGroup {
		group = ""
	}
	profile := ""
	for _, other := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		if prefix, ok := strings.CutSuffix(group, other.Group("")); ok && other != c.Naming {
			group, profile = c.Naming.Group(prefix), fmt.Sprintf("the naming profile (--naming) is %s, not %s: ", c.Naming.Profile, other.Profile)
		}
	}
	for _, r := range c.Resources {
		if strings.EqualFold(r.Kind, kind) && (r.Group == group || group == "extensions") {
			return fmt.Sprintf("%suse apiVersion %s and kind %s", profile, r.APIVersion(), r.Kind)
		}
	}
	return ""
}

// Preferred returns all resources, each in its preferred version.
func (c *Catalog) Preferred() (all []*Resource) {
	seen := map[meta.GroupResource]bool{}
	for _, r := range c.Resources {
		key := meta.GroupResource{Group: r.Group, Resource: r.Name}
		if !seen[key] {
			seen[key] = true
			all = append(all, r)
		}
	}
	return all
}

// Own returns a resource of a built-in API, such as selfsubjectaccessreviews. group is the API
// group without its domain, such as "authorization" for authorization.k8s.io, or "" for the core
// group.
func (c *Catalog) Own(group, name string) (*Resource, error) {
	full := group
	if group != "" && group != "apps" && group != "batch" && group != "policy" && group != "autoscaling" {
		full = c.Naming.Group(group)
	}
	for _, r := range c.Resources {
		if r.Group == full && r.Name == name {
			return r, nil
		}
	}
	return nil, &UnknownError{Name: name, Broken: c.Broken}
}
