package discovery

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/openapi"
)

// merged are the documents that are other ones where other servers serve something.
type merged struct {
	groupList  []byte
	groups     map[string][]byte
	aggregated map[bool]taggedDocument // of /api (true) and /apis
	openapi    *openapi.Document
	index      func() openapi.Index
	converted  map[string]convertedDocument // by path
}

// A convertedDocument is one of version 3 that was made of what a server says in version 2.
type convertedDocument struct {
	of       *openapi.Remote
	document *openapi.Document
}

// A taggedDocument is a document with its ETag.
type taggedDocument struct {
	body []byte
	etag string
}

// merging is what documents with everything were made of.
type merging struct {
	own       *Documents
	servers   uint64 // generation
	documents *Documents
}

// Current are the documents of all that is served now, here and by other servers.
//
// What these say has been asked for in the background: nobody waits for them here.
func (c *Cache) Current() *Documents {
	own := c.own()
	if c.opts.Servers == nil {
		return own
	}
	// Both are immutable and counted: who has the same two has the same documents.
	fits := func(m *merging) bool { return m != nil && m.own == own && m.servers == c.opts.Servers.Generation() }
	if m := c.lastMerged.Load(); fits(m) {
		return m.documents
	}
	c.mergeMu.Lock()
	defer c.mergeMu.Unlock()
	if m := c.lastMerged.Load(); fits(m) {
		return m.documents
	}
	generation := c.opts.Servers.Generation() // read before the content: if this is newer, it is merged once more
	m := &merging{own: own, servers: generation, documents: c.merge(own, c.lastMerged.Load())}
	c.lastMerged.Store(m)
	return m.documents
}

// merge puts what other servers serve into the documents; these themselves if that changes nothing.
//
// Of the documents before, those are taken over that are made of the same.
func (c *Cache) merge(own *Documents, before *merging) *Documents {
	m := newMerger(c.opts.Servers.Content(), c.priorities)
	if !m.changes() {
		return own
	}
	// A shallow copy: what merging does not change is shared, lists of resources above all.
	d := *own
	d.merged = &merged{aggregated: map[bool]taggedDocument{}, converted: m.converted(own, before)}
	d.merged.groupList, d.merged.groups = m.plain(own.Discovery.Groups())
	for _, core := range []bool{true, false} {
		body, _ := own.Discovery.Aggregated(core)
		body, etag := m.aggregated(body, core)
		d.merged.aggregated[core] = taggedDocument{body, etag}
	}
	d.merged.openapi = own.openapi.V2With(m.content.OpenAPI)
	// The hashes of this server's documents cost making all of them, so not before somebody asks.
	d.merged.index = sync.OnceValue(func() openapi.Index { return m.openapiIndex(own.openapi.Index(), d.merged.converted) })
	d.index = m.paths(own.index)
	return &d
}

// converted are the documents of version 3 of servers that have none.
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

// openapiIndex is the index of version 3 with the documents of other servers.
func (m *merger) openapiIndex(own openapi.Index, converted map[string]convertedDocument) openapi.Index {
	type location struct {
		URL string `json:"serverRelativeURL"`
	}
	var index struct {
		Paths map[string]location `json:"paths"`
	}
	mustUnmarshal(own.Body, &index)
	for of := range m.content.Documents {
		// The document of this server is not that of who serves the version now.
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

// paths is the list of paths with those of other servers.
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
