package discovery

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

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
}

// Index is the list of paths at /.
func (d *Documents) Index() []byte { return d.index }

// OpenAPIV2 is the document of all kinds in version 2 of OpenAPI.
func (d *Documents) OpenAPIV2() *openapi.Document { return d.openapi.V2() }

// OpenAPIIndex tells where the documents of version 3 are.
func (d *Documents) OpenAPIIndex() openapi.Index { return d.openapi.Index() }

// OpenAPIV3 is the document of a group and version, by its path, as in "apis/apps/v1"; nil: there is none.
func (d *Documents) OpenAPIV3(path string) *openapi.Document { return d.openapi.V3(path) }

// Options say what the documents are about.
type Options struct {
	Naming          *meta.Naming
	Catalog         *catalog.Catalog
	ExternalAddress string   // where the server is reached
	PatchTypes      []string // media types of patches
	FixedPaths      []string // that lead to no kind
}

// Cache makes the documents anew when they are asked for and the kinds have changed.
type Cache struct {
	opts Options
	last atomic.Pointer[Documents]
	mu   sync.Mutex // held while they are made
}

// NewCache makes a cache, which is empty.
func NewCache(o Options) *Cache { return &Cache{opts: o} }

// Current are the documents of the kinds that are served now.
func (c *Cache) Current() *Documents {
	if d := c.last.Load(); d != nil && d.generation == c.opts.Catalog.Generation() {
		return d
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	generation := c.opts.Catalog.Generation() // read before the kinds: if these are newer, the documents are made once more
	if d := c.last.Load(); d != nil && d.generation == generation {
		return d
	}
	d := &Documents{
		Discovery:  present.NewDiscovery(c.opts.Naming, c.opts.ExternalAddress, c.opts.Catalog.Kinds()),
		generation: generation,
		openapi: openapi.New(openapi.Options{
			Naming: c.opts.Naming, Kinds: c.opts.Catalog.Kinds(), Message: c.opts.Catalog.Message,
			Version: "v" + apiMajor + "." + apiMinor + ".0", Patches: c.opts.PatchTypes,
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
