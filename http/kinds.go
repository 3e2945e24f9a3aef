package http

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/kinds/present"
)

// documents describe the kinds of one edition of the catalogue.
type documents struct {
	edition   uint64
	discovery *present.Discovery
	openapi   *openapi.Documents
	index     []byte // the document at /
}

// A describer makes the documents anew when they are asked for and the kinds have changed.
type describer struct {
	current atomic.Pointer[documents]
	mu      sync.Mutex // held while they are made
}

// documents are those of the kinds that are served now.
func (s *Server) documents() *documents {
	if d := s.described.current.Load(); d != nil && d.edition == s.opts.Catalog.Edition() {
		return d
	}
	s.described.mu.Lock()
	defer s.described.mu.Unlock()
	edition := s.opts.Catalog.Edition() // before the kinds: they may be newer, and are then looked at again
	if d := s.described.current.Load(); d != nil && d.edition == edition {
		return d
	}
	d := &documents{
		edition:   edition,
		discovery: present.NewDiscovery(s.opts.Naming, s.opts.Address, s.opts.Catalog.Kinds()),
		openapi:   s.newOpenAPI(),
		index:     s.indexDocument(),
	}
	s.described.current.Store(d)
	return d
}
