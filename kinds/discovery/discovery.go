package discovery

import (
	"cmp"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Discovery contains a catalog's encoded discovery documents, which every client requests at
// startup. A Discovery is immutable and is replaced when the served kinds change.
type Discovery struct {
	apiVersions []byte
	groupList   []byte
	groups      map[string][]byte       // by group
	resources   map[GroupVersion][]byte // APIResourceLists
	aggregated  map[bool]document       // at /api (true) and /apis
}

type document struct {
	body []byte
	etag string
}

// NewDiscovery encodes the documents. Groups are ordered by priority, and versions in the order of
// kinds, the preferred one first. Kinds without a resource are omitted. address is the server
// address for clients.
//
// Kinds are sorted by resource, so that every process serves the same ETags.
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

// APIVersions returns the document at /api.
func (d *Discovery) APIVersions() []byte { return d.apiVersions }

// Groups returns the APIGroupList at /apis.
func (d *Discovery) Groups() []byte { return d.groupList }

// Group returns the APIGroup at /apis/{group}, or nil.
func (d *Discovery) Group(name string) []byte { return d.groups[name] }

// Resources returns the APIResourceList at /apis/{group}/{version}, or at /api/{version} for the
// core group. It returns nil if the version is not served.
func (d *Discovery) Resources(group, version string) []byte {
	return d.resources[GroupVersion{group, version}]
}

// Aggregated returns the APIGroupDiscoveryList at /apis, or at /api if core is true, and its ETag.
func (d *Discovery) Aggregated(core bool) (body []byte, etag string) {
	doc := d.aggregated[core]
	return doc.body, doc.etag
}

type group struct {
	name     string
	versions []*version
}

type version struct {
	group, name string
	kinds       []*schema.Kind // sorted by resource
}

func (v *version) groupVersionText() string {
	return meta.GroupVersionKind{Group: v.group, Version: v.name}.APIVersion()
}

// groupKinds groups kinds by group and version. It skips kinds without a resource, such as Scale,
// which exist only as subresource bodies.
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

func sortedSubresources(k *schema.Kind) []schema.Subresource {
	if k.IsCustom() {
		return k.Subresources
	}
	return slices.SortedFunc(slices.Values(k.Subresources), func(a, b schema.Subresource) int {
		return cmp.Compare(a.Name, b.Name)
	})
}

// listedVerbs returns the verbs of a kind. While a custom kind is being removed, it omits create,
// patch and update, but keeps the delete verbs, which namespace controllers need.
func listedVerbs(k *schema.Kind) []string {
	switch {
	case k.IsCustom() && k.Origin.Draining:
		return slices.DeleteFunc(slices.Clone(k.Verbs), func(verb string) bool { return verb == "create" || verb == "patch" || verb == "update" })
	case k.IsCustom():
		return k.Verbs
	}
	return sortedVerbs(k.Verbs)
}

// sortedVerbs returns the sorted verbs, never nil, because an empty list must appear as [] in JSON.
func sortedVerbs(verbs []string) []string {
	out := append([]string{}, verbs...)
	slices.Sort(out)
	return out
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
