package discovery

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/openapi"
)

// merged holds the documents that differ because of aggregated servers.
type merged struct {
	groupList  []byte
	groups     map[string][]byte
	aggregated map[bool]taggedDocument // /api (true) and /apis
	openapi    *openapi.Document
	index      func() openapi.Index
	converted  map[string]convertedDocument // by path
}

type convertedDocument struct {
	of       *openapi.Remote
	document *openapi.Document
}

type taggedDocument struct {
	body []byte
	etag string
}

type merging struct {
	own       *Documents
	servers   uint64 // generation
	documents *Documents
}

// Current returns the documents of this server and of aggregated servers. It does not wait for
// aggregated servers, whose documents are fetched in the background.
func (c *Cache) Current() *Documents {
	own := c.own()
	if c.opts.Servers == nil {
		return own
	}
	// The result remains valid while both inputs are unchanged.
	fits := func(m *merging) bool { return m != nil && m.own == own && m.servers == c.opts.Servers.Generation() }
	if m := c.lastMerged.Load(); fits(m) {
		return m.documents
	}
	c.mergeMu.Lock()
	defer c.mergeMu.Unlock()
	if m := c.lastMerged.Load(); fits(m) {
		return m.documents
	}
	generation := c.opts.Servers.Generation() // before the content, which may be newer
	m := &merging{own: own, servers: generation, documents: c.merge(own, c.lastMerged.Load())}
	c.lastMerged.Store(m)
	return m.documents
}

// merge returns the documents of this server merged with those of aggregated servers, or own if
// nothing differs. It reuses conversions of unchanged documents from the previous merge.
func (c *Cache) merge(own *Documents, before *merging) *Documents {
	m := newMerger(c.opts.Servers.Content(), c.priorities)
	if !m.changes() {
		return own
	}
	// The shallow copy shares unchanged documents, such as the resource lists.
	d := *own
	d.merged = &merged{aggregated: map[bool]taggedDocument{}, converted: m.converted(own, before)}
	d.merged.groupList, d.merged.groups = m.plain(own.Discovery.Groups())
	for _, core := range []bool{true, false} {
		body, _ := own.Discovery.Aggregated(core)
		body, etag := m.aggregated(body, core)
		d.merged.aggregated[core] = taggedDocument{body, etag}
	}
	d.merged.openapi = own.openapi.V2With(m.content.OpenAPI)
	// The index is built on demand, because its hashes require all documents.
	d.merged.index = sync.OnceValue(func() openapi.Index { return m.openapiIndex(own.openapi.Index(), d.merged.converted) })
	d.index = m.paths(own.index)
	return &d
}

// converted returns the OpenAPI v3 documents of aggregated servers that publish only OpenAPI v2.
// The map's keys are OpenAPI v3 paths.
func (m *merger) converted(own *Documents, before *merging) map[string]convertedDocument {
	all := map[string]convertedDocument{}
	for of, remote := range m.content.Old {
		path := of.Path()[1:]
		if before != nil && before.documents.merged != nil {
			if known := before.documents.merged.converted[path]; known.of == remote {
				all[path] = known
				continue
			}
		}
		all[path] = convertedDocument{remote, own.openapi.V3Of(remote, path)}
	}
	return all
}

func (m *merger) openapiIndex(own openapi.Index, converted map[string]convertedDocument) openapi.Index {
	type location struct {
		URL string `json:"serverRelativeURL"`
	}
	var index struct {
		Paths map[string]location `json:"paths"`
	}
	mustUnmarshal(own.Body, &index)
	for of := range m.content.Documents {
		// The aggregated server's version may replace this server's own version.
		path := of.Path()[1:]
		delete(index.Paths, path)
		if hash, ok := m.content.Hashes[of]; ok {
			index.Paths[path] = location{openapi.URL(path, hash)}
		} else if c, ok := converted[path]; ok {
			index.Paths[path] = location{openapi.URL(path, c.document.Hash())}
		}
	}
	body := mustMarshal(index)
	return openapi.Index{Body: body, Hash: fmt.Sprintf("%X", sha256.Sum256(body))}
}

func (m *merger) paths(own []byte) []byte {
	var list struct {
		Paths []string `json:"paths"`
	}
	mustUnmarshal(own, &list)
	for of := range m.content.Documents {
		list.Paths = append(list.Paths, of.Path())
		if of.Group != "" {
			list.Paths = append(list.Paths, "/apis/"+of.Group)
		}
	}
	slices.Sort(list.Paths)
	list.Paths = slices.Compact(list.Paths)
	return mustMarshal(list)
}
