package http

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/kinds/present"
)

// documents describe the kinds of one edition of the catalogue.
type documents struct {
	generation uint64
	discovery  *present.Discovery
	openapi    *openapi.Documents
	index      []byte // the document at /
}

// A describer makes the documents anew when they are asked for and the kinds have changed.
type documentCache struct {
	current atomic.Pointer[documents]
	mu      sync.Mutex // held while they are made
}

// documents are those of the kinds that are served now.
func (s *Server) documents() *documents {
	if d := s.documentCache.current.Load(); d != nil && d.generation == s.opts.Catalog.Generation() {
		return d
	}
	s.documentCache.mu.Lock()
	defer s.documentCache.mu.Unlock()
	generation := s.opts.Catalog.Generation() // before the kinds: they may be newer, and are then looked at again
	if d := s.documentCache.current.Load(); d != nil && d.generation == generation {
		return d
	}
	d := &documents{
		generation: generation,
		discovery:  present.NewDiscovery(s.opts.Naming, s.opts.ExternalAddress, s.opts.Catalog.Kinds()),
		openapi:    s.newOpenAPI(),
		index:      s.indexDocument(),
	}
	s.documentCache.current.Store(d)
	return d
}
