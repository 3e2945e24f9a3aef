package discovery

import (
	"cmp"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/http/aggregation"
	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A merger merges the APIs of aggregated servers into this server's documents, in the order of
// their APIServices. It edits finished documents, so that a server without aggregation has no
// overhead.
type merger struct {
	content    aggregation.Content
	priorities *discovery.Priorities
	given      map[discovery.GroupVersion]discovery.Priority // from APIServices
}

func newMerger(c aggregation.Content, p *discovery.Priorities) *merger {
	m := &merger{content: c, priorities: p, given: map[discovery.GroupVersion]discovery.Priority{}}
	// The priorities of APIServices also apply to this server's own versions, so that operators
	// can reorder them in discovery.
	for _, a := range c.Services {
		m.given[a.GroupVersion] = a.Priority
	}
	return m
}

func (m *merger) changes() bool {
	if len(m.content.Documents) > 0 || len(m.content.Hidden) > 0 {
		return true
	}
	return slices.ContainsFunc(m.content.Services, func(a aggregation.APIService) bool {
		return a.Priority != m.priorities.Of(a.Group, a.Version)
	})
}

type group struct {
	name     string
	priority int64 // highest of its versions
	versions []version
}

type version struct {
	name     string
	priority discovery.Priority
	entry    json.RawMessage
}

func (m *merger) setOwn(groups map[string]*group, of discovery.GroupVersion, entry json.RawMessage) {
	if !m.content.Hidden[of] {
		m.set(groups, of, entry)
	}
}

func (m *merger) set(groups map[string]*group, of discovery.GroupVersion, entry json.RawMessage) {
	g := groups[of.Group]
	if g == nil {
		g = &group{name: of.Group}
		groups[of.Group] = g
	}
	p, ok := m.given[of]
	if !ok {
		p = m.priorities.Of(of.Group, of.Version)
	}
	g.priority = max(g.priority, p.Group)
	// An aggregated server's version replaces this server's own version.
	g.versions = slices.DeleteFunc(g.versions, func(v version) bool { return v.name == of.Version })
	g.versions = append(g.versions, version{of.Version, p, entry})
}

// sorted returns the groups in discovery order. Groups of equal priority are ordered by the string
// that tie returns.
func sorted(groups map[string]*group, tie func(*group) string) []*group {
	var all []*group
	for _, g := range groups {
		slices.SortFunc(g.versions, func(a, b version) int {
			return cmp.Or(cmp.Compare(b.priority.Version, a.priority.Version), meta.CompareVersions(a.name, b.name))
		})
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), strings.Compare(tie(a), tie(b)))
	})
	return all
}

func byName(g *group) string { return g.name }

// byService returns the tie-breaker for the plain group list: the name of the first APIService
// with the group's priority.
func byService(g *group) string {
	var names []string
	for _, v := range g.versions {
		if v.priority.Group == g.priority {
			names = append(names, discovery.GroupVersion{Group: g.name, Version: v.name}.ServiceName())
		}
	}
	return slices.Min(names)
}

// The parts of the documents that a merger needs.
type (
	aggregatedList struct {
		Kind       string            `json:"kind"`
		APIVersion string            `json:"apiVersion"`
		Metadata   struct{}          `json:"metadata"`
		Items      []aggregatedGroup `json:"items"`
	}
	aggregatedGroup struct {
		Metadata groupName         `json:"metadata"`
		Versions []json.RawMessage `json:"versions"`
	}
	groupName struct {
		Name string `json:"name,omitempty"`
	}
	versionName struct {
		Version string `json:"version"`
	}
	plainList struct {
		Kind       string       `json:"kind"`
		APIVersion string       `json:"apiVersion"`
		Groups     []plainGroup `json:"groups"`
	}
	plainGroup struct {
		Kind       string            `json:"kind,omitempty"`
		APIVersion string            `json:"apiVersion,omitempty"`
		Name       string            `json:"name"`
		Versions   []json.RawMessage `json:"versions"`
		Preferred  json.RawMessage   `json:"preferredVersion"`
	}
)

// aggregated returns the merged APIGroupDiscoveryList and its ETag. core selects the document of
// the core group.
func (m *merger) aggregated(own []byte, core bool) (body []byte, etag string) {
	var list aggregatedList
	mustUnmarshal(own, &list)
	groups := map[string]*group{}
	for _, g := range list.Items {
		for _, entry := range g.Versions {
			m.setOwn(groups, discovery.GroupVersion{Group: g.Metadata.Name, Version: nameOf(entry)}, entry)
		}
	}
	for of, entry := range m.content.Documents {
		// The core group has its own path and document.
		if (of.Group == "") == core {
			m.set(groups, of, entry)
		}
	}
	list.Items = []aggregatedGroup{}
	for _, g := range sorted(groups, byName) {
		list.Items = append(list.Items, aggregatedGroup{groupName{g.name}, g.entries()})
	}
	body = mustMarshal(list)
	return body, fmt.Sprintf("\"%X\"", sha512.Sum512(body))
}

// plain returns the merged APIGroupList and a map from group names to APIGroups. A group whose
// versions are all hidden is in the map, but not in the list.
func (m *merger) plain(own []byte) (body []byte, each map[string][]byte) {
	var list plainList
	mustUnmarshal(own, &list)
	groups := map[string]*group{}
	each = map[string][]byte{}
	for _, g := range list.Groups {
		for _, entry := range g.Versions {
			m.setOwn(groups, discovery.GroupVersion{Group: g.Name, Version: nameOf(entry)}, entry)
		}
		g.Kind, g.APIVersion = "APIGroup", "v1"
		each[g.Name] = mustMarshal(g)
	}
	// The list contains only version names, so it can include servers that have never responded.
	for of := range m.content.Documents {
		if of.Group != "" {
			m.set(groups, of, mustMarshal(struct {
				GroupVersion string `json:"groupVersion"`
				Version      string `json:"version"`
			}{of.String(), of.Version}))
		}
	}
	list.Groups = []plainGroup{}
	for _, g := range sorted(groups, byService) {
		entries := g.entries()
		one := plainGroup{Name: g.name, Versions: entries, Preferred: entries[0]}
		list.Groups = append(list.Groups, one)
		one.Kind, one.APIVersion = "APIGroup", "v1"
		each[g.name] = mustMarshal(one)
	}
	return mustMarshal(list), each
}

func (g *group) entries() []json.RawMessage {
	entries := make([]json.RawMessage, len(g.versions))
	for i := range g.versions {
		entries[i] = g.versions[i].entry
	}
	return entries
}

func nameOf(entry json.RawMessage) string {
	var v versionName
	mustUnmarshal(entry, &v)
	return v.Version
}

func mustUnmarshal(b []byte, v any) {
	if err := json.Unmarshal(b, v); err != nil {
		panic(err)
	}
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
