package discovery

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/http/aggregation"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/kinds/present"
)

// Documents describe the kinds of one generation of the catalogue.
type Documents struct {
	*present.Discovery
	generation uint64
	openapi    *openapi.Documents
	index      []byte
	merged     *merged // with what other servers serve; nil: there is none
}

// Index is the list of paths at /.
func (d *Documents) Index() []byte { return d.index }

// Groups is the APIGroupList at /apis.
func (d *Documents) Groups() []byte {
	if d.merged != nil {
		return d.merged.groupList
	}
	return d.Discovery.Groups()
}

// Group is the APIGroup at /apis/{group}; nil if there is no such group.
func (d *Documents) Group(name string) []byte {
	if d.merged != nil {
		return d.merged.groups[name]
	}
	return d.Discovery.Group(name)
}

// Aggregated is the APIGroupDiscoveryList at /api (core) or /apis, and its ETag.
func (d *Documents) Aggregated(core bool) (body []byte, etag string) {
	if d.merged != nil {
		a := d.merged.aggregated[core]
		return a.body, a.etag
	}
	return d.Discovery.Aggregated(core)
}

// OpenAPIV2 is the document of all kinds in version 2 of OpenAPI.
func (d *Documents) OpenAPIV2() *openapi.Document {
	if d.merged != nil {
		return d.merged.openapi
	}
	return d.openapi.V2()
}

// OpenAPIIndex tells where the documents of version 3 are.
func (d *Documents) OpenAPIIndex() openapi.Index {
	if d.merged != nil {
		return d.merged.index()
	}
	return d.openapi.Index()
}

// OpenAPIV3 is the document of a group and version, by its path, as in "apis/apps/v1"; nil: there is none.
func (d *Documents) OpenAPIV3(path string) *openapi.Document { return d.openapi.V3(path) }

// ConvertedOpenAPIV3 is the document of a version that another server serves, and describes in version 2 only; nil: there
// is none.
func (d *Documents) ConvertedOpenAPIV3(path string) *openapi.Document {
	if d.merged == nil {
		return nil
	}
	return d.merged.converted[path].document
}

// Options say what the documents are about.
type Options struct {
	Naming          *meta.Naming
	Catalog         *catalog.Catalog
	ExternalAddress string   // where the server is reached
	PatchTypes      []string // media types of patches
	CBOR            bool     // answers are served in CBOR too
	FixedPaths      []string // that lead to no kind
	// Servers serve other versions; nil: there are none.
	Servers *aggregation.Servers
}

// Cache makes the documents anew when they are asked for and the kinds have changed.
type Cache struct {
	opts       Options
	priorities *present.Priorities
	last       atomic.Pointer[Documents]
	mu         sync.Mutex // held while they are made

	lastMerged atomic.Pointer[merging]
	mergeMu    sync.Mutex // held while what other servers serve is put into them
}

// NewCache makes a cache, which is empty.
func NewCache(o Options) *Cache {
	return &Cache{opts: o, priorities: present.NewPriorities(o.Naming)}
}

// own are the documents of the kinds that this server serves now.
//
// Most calls are one atomic load. After a change one caller makes the documents while others wait for them.
func (c *Cache) own() *Documents {
	if d := c.last.Load(); d != nil && d.generation == c.opts.Catalog.Generation() {
		return d
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	generation := c.opts.Catalog.Generation() // read before the kinds: if these are newer, the documents are made once more
	if d := c.last.Load(); d != nil && d.generation == generation {
		return d
	}
	// What describes kinds that have not changed is taken over: a definition more costs its own documents.
	var previous *openapi.Documents
	if last := c.last.Load(); last != nil {
		previous = last.openapi
	}
	d := &Documents{
		Discovery:  present.NewDiscovery(c.opts.Naming, c.opts.ExternalAddress, c.opts.Catalog.Kinds()),
		generation: generation,
		openapi: openapi.New(openapi.Options{
			Naming: c.opts.Naming, Kinds: c.opts.Catalog.Kinds(), Message: c.opts.Catalog.Message,
			Version: "v" + apiMajor + "." + apiMinor + ".0", Patches: c.opts.PatchTypes, CBOR: c.opts.CBOR, Previous: previous,
		}),
		index: c.newIndex(),
	}
	c.last.Store(d)
	return d
}

// newIndex makes the list of paths.
func (c *Cache) newIndex() []byte {
	paths := slices.Clone(c.opts.FixedPaths)
	for _, k := range c.opts.Catalog.Kinds() {
		// A path for each version and group, whether anything but resources is there or not: clients look for prefixes.
		if k.Group == "" {
			paths = append(paths, "/api/"+k.Version)
		} else {
			paths = append(paths, "/apis/"+k.Group, "/apis/"+k.Group+"/"+k.Version)
		}
	}
	slices.Sort(paths)
	b, err := json.Marshal(struct {
		Paths []string `json:"paths"`
	}{slices.Compact(paths)})
	if err != nil {
		panic(err)
	}
	return b
}
