package present

import (
	"cmp"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Discovery holds every discovery document of one catalogue, ready to be sent. It is immutable; when the
// served kinds change, a new one is made.
//
// Each client asks for all of it when it starts, while the served kinds seldom change: so the answers are
// made beforehand.
type Discovery struct {
	apiVersions []byte
	groupList   []byte
	groups      map[string][]byte       // by group
	resources   map[GroupVersion][]byte // APIResourceLists
	aggregated  map[bool]document       // of /api (true) and /apis
}

type document struct {
	body []byte
	etag string
}

// NewDiscovery builds the documents. Groups come in the order of priorities, the versions of
// each as they first occur among kinds; the first version of a group is its preferred
// one. Kinds without a resource are left out. address is where clients reach the server.
//
// Within a version kinds are sorted by resource: the same kinds make the same bytes, and so the same ETag, in
// every process.
func NewDiscovery(n *meta.Naming, address string, kinds []*schema.Kind) *Discovery {
	groups := groupKinds(kinds)
	p := NewPriorities(n)
	sortByPriority(p, groups, func(g *group) string { return g.name })
	d := &Discovery{
		apiVersions: mustJSON(apiVersions(address, groups)),
		groupList:   mustJSON(groupList(p, groups)),
		groups:      map[string][]byte{},
		resources:   map[GroupVersion][]byte{},
		aggregated:  map[bool]document{},
	}
	for _, g := range groups {
		if g.name != "" {
			d.groups[g.name] = mustJSON(groupDocument(g, true))
		}
		for _, v := range g.versions {
			d.resources[GroupVersion{g.name, v.name}] = mustJSON(resourceList(v))
		}
	}
	for _, core := range []bool{true, false} {
		body := mustJSON(aggregate(n, core, groups))
		d.aggregated[core] = document{body, fmt.Sprintf("\"%X\"", sha512.Sum512(body))}
	}
	return d
}

// APIVersions is the document at /api.
func (d *Discovery) APIVersions() []byte { return d.apiVersions }

// Groups is the APIGroupList at /apis.
func (d *Discovery) Groups() []byte { return d.groupList }

// Group is the APIGroup at /apis/{group}; nil if there is no such group.
func (d *Discovery) Group(name string) []byte { return d.groups[name] }

// Resources is the APIResourceList at /apis/{group}/{version}, or at /api/{version} for
// the group ""; nil if the version is not served.
func (d *Discovery) Resources(group, version string) []byte {
	return d.resources[GroupVersion{group, version}]
}

// Aggregated is the APIGroupDiscoveryList at /api (core) or /apis, and its ETag.
func (d *Discovery) Aggregated(core bool) (body []byte, etag string) {
	doc := d.aggregated[core]
	return doc.body, doc.etag
}

// A group and a version as they are served.
type group struct {
	name     string
	versions []*version
}

type version struct {
	group, name string
	kinds       []*schema.Kind // by resource
}

// groupVersionText is "v1" or "apps/v1".
func (v *version) groupVersionText() string {
	return meta.GroupVersionKind{Group: v.group, Version: v.name}.APIVersion()
}

// groupKinds sorts kinds into their groups and versions.
//
// Kinds without a resource are bodies of sub-resources, such as a Scale.
func groupKinds(kinds []*schema.Kind) []*group {
	var groups []*group
	for _, k := range kinds {
		if k.Resource == "" {
			continue
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.name == k.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{name: k.Group})
		}
		g := groups[i]
		i = slices.IndexFunc(g.versions, func(v *version) bool { return v.name == k.Version })
		if i < 0 {
			i = len(g.versions)
			g.versions = append(g.versions, &version{group: k.Group, name: k.Version})
		}
		g.versions[i].kinds = append(g.versions[i].kinds, k)
	}
	for _, g := range groups {
		for _, v := range g.versions {
			slices.SortFunc(v.kinds, func(a, b *schema.Kind) int { return cmp.Compare(a.Resource, b.Resource) })
		}
	}
	return groups
}

// sortedSubresources are those of k by name; of a kind that a definition makes, in the order that it has them.
func sortedSubresources(k *schema.Kind) []schema.Subresource {
	if k.IsCustom() {
		return k.Subresources
	}
	return slices.SortedFunc(slices.Values(k.Subresources), func(a, b schema.Subresource) int {
		return cmp.Compare(a.Name, b.Name)
	})
}

// listedVerbs are those of a kind as documents list them; of a kind that a definition makes, in the order that it has them.
//
// Of a kind that is going away nothing is to be made or changed, and so clients are told: a controller that empties a namespace, say,
// looks for what can be deleted.
func listedVerbs(k *schema.Kind) []string {
	switch {
	case k.IsCustom() && k.Origin.Draining:
		return slices.DeleteFunc(slices.Clone(k.Verbs), func(verb string) bool { return verb == "create" || verb == "patch" || verb == "update" })
	case k.IsCustom():
		return k.Verbs
	}
	return sortedVerbs(k.Verbs)
}

// sortedVerbs is a sorted copy, never nil: the field is always written.
func sortedVerbs(verbs []string) []string {
	out := append([]string{}, verbs...)
	slices.Sort(out)
	return out
}

// mustJSON encodes structs of texts and booleans, which cannot fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
