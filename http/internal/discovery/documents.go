package discovery

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/http/aggregation"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
)

// Documents holds the documents of one catalog generation.
type Documents struct {
	*discovery.Discovery
	generation uint64
	openapi    *openapi.Documents
	index      []byte
	merged     *merged // merged with other servers' documents; nil without such servers
}

// Index returns the list of paths at /.
func (d *Documents) Index() []byte { return d.index }

// Groups returns the APIGroupList at /apis.
func (d *Documents) Groups() []byte {
	if d.merged != nil {
		return d.merged.groupList
	}
	return d.Discovery.Groups()
}

// Group returns the APIGroup at /apis/{group}, or nil.
func (d *Documents) Group(name string) []byte {
	if d.merged != nil {
		return d.merged.groups[name]
	}
	return d.Discovery.Group(name)
}

// Aggregated returns the APIGroupDiscoveryList at /api (core) or /apis, and its ETag.
func (d *Documents) Aggregated(core bool) (body []byte, etag string) {
	if d.merged != nil {
		a := d.merged.aggregated[core]
		return a.body, a.etag
	}
	return d.Discovery.Aggregated(core)
}

// OpenAPIV2 returns the OpenAPI v2 document.
func (d *Documents) OpenAPIV2() *openapi.Document {
	if d.merged != nil {
		return d.merged.openapi
	}
	return d.openapi.V2()
}

// OpenAPIIndex returns the index of OpenAPI v3 documents.
func (d *Documents) OpenAPIIndex() openapi.Index {
	if d.merged != nil {
		return d.merged.index()
	}
	return d.openapi.Index()
}

// OpenAPIV3 returns the document of a group and version, or nil. path is, for example,
// "apis/apps/v1".
func (d *Documents) OpenAPIV3(path string) *openapi.Document { return d.openapi.V3(path) }

// ConvertedOpenAPIV3 returns the OpenAPI v3 document of an aggregated API version whose server
// publishes only OpenAPI v2, or nil.
func (d *Documents) ConvertedOpenAPIV3(path string) *openapi.Document {
	if d.merged == nil {
		return nil
	}
	return d.merged.converted[path].document
}

// Options configures the documents.
type Options struct {
	Naming          *meta.Naming
	Catalog         *catalog.Catalog
	ExternalAddress string   // where clients reach the server
	PatchTypes      []string // media types of patches
	CBOR            bool     // CBOR is served
	FixedPaths      []string // without kinds
	// Servers holds the aggregated servers. It is nil if aggregation is disabled.
	Servers *aggregation.Servers
}

// A Cache rebuilds the documents on demand after kinds have changed.
type Cache struct {
	opts       Options
	priorities *discovery.Priorities
	last       atomic.Pointer[Documents]
	mu         sync.Mutex // held while building

	lastMerged atomic.Pointer[merging]
	mergeMu    sync.Mutex // held while merging
}

// NewCache returns an empty Cache.
func NewCache(o Options) *Cache {
	return &Cache{opts: o, priorities: discovery.NewPriorities(o.Naming)}
}

// own returns the documents of this server's kinds. After a change, one caller builds the
// documents while the others wait.
func (c *Cache) own() *Documents {
	if d := c.last.Load(); d != nil && d.generation == c.opts.Catalog.Generation() {
		return d
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	generation := c.opts.Catalog.Generation() // before the kinds, which may be newer
	if d := c.last.Load(); d != nil && d.generation == generation {
		return d
	}
	// Documents of unchanged versions are reused, so a new CRD requires building only its own
	// OpenAPI documents.
	var previous *openapi.Documents
	if last := c.last.Load(); last != nil {
		previous = last.openapi
	}
	d := &Documents{
		Discovery:  discovery.NewDiscovery(c.opts.Naming, c.opts.ExternalAddress, c.opts.Catalog.Kinds()),
		generation: generation,
		openapi: openapi.New(openapi.Options{
			Naming: c.opts.Naming, Kinds: c.opts.Catalog.Kinds(), Message: c.opts.Catalog.Message,
			Version: kubeVersion, Patches: c.opts.PatchTypes, CBOR: c.opts.CBOR, Previous: previous,
		}),
		index: c.newIndex(),
	}
	c.last.Store(d)
	return d
}

func (c *Cache) newIndex() []byte {
	paths := slices.Clone(c.opts.FixedPaths)
	for _, k := range c.opts.Catalog.Kinds() {
		// List the path of each API group and version, because clients search the index for path
		// prefixes.
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
