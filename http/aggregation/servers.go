package aggregation

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/services"
	"golang.org/x/sync/semaphore"
)

// Options configures Servers. Identity, PassRedirects and BuiltIn are optional, and all other
// fields are required.
type Options struct {
	Naming   *meta.Naming
	Resolver *services.Resolver
	// ClientCertificate authenticates this server to backends, which then trust its identity
	// headers.
	ClientCertificate func() *tls.Certificate
	Log               *slog.Logger
	// Identity contains additional headers that backends may trust.
	Identity IdentityHeaders
	// PassRedirects passes redirects on to clients. By default they are rejected.
	PassRedirects bool
	// BuiltIn reports whether this server itself serves an API version that no CRD defines. It is
	// nil if there are no such versions.
	BuiltIn func(group, version string) bool
}

// Servers tracks the servers of all APIServices. It is safe for concurrent use.
type Servers struct {
	opts Options
	own  string // group of APIServices

	mu       sync.Mutex // guards the next three, and writes of current
	services map[string]APIService
	hidden   map[discovery.GroupVersion]bool // built-in versions whose APIService was deleted
	backends map[address]*backend
	current  atomic.Pointer[routes]

	// Follow sets these fields.
	ctx     context.Context // of requests to backends
	objects policy.Objects

	running sync.WaitGroup
	content atomic.Uint64 // incremented when the served content changes
	kept    atomic.Int64  // bytes of all cached documents
	reading *semaphore.Weighted
	parsing sync.Mutex // held while a large document is parsed, which takes several times its size
}

// routes is an immutable snapshot of the APIServices and the remote server of each API version.
type routes struct {
	services []APIService
	remote   map[discovery.GroupVersion]*Server
	hidden   map[discovery.GroupVersion]bool
}

// maxKept is the maximum total size of all cached documents, in bytes.
const maxKept = 32 << 20

var errKept = errors.New("the documents of all servers exceed the limit")

// New returns Servers without APIServices. It sends no requests before Follow.
func New(o Options) *Servers {
	s := &Servers{
		opts: o, own: o.Naming.Translate(discovery.APIRegistrationGroup),
		services: map[string]APIService{}, hidden: map[discovery.GroupVersion]bool{}, backends: map[address]*backend{}, reading: semaphore.NewWeighted(maxReading),
	}
	s.current.Store(&routes{})
	return s
}

func (s *Servers) Resource() meta.GroupResource {
	return meta.GroupResource{Group: discovery.APIRegistrationGroup, Resource: "apiservices"}
}

// Follow watches APIServices and keeps their backends up to date in the background until ctx ends.
// It returns once it has read the existing APIServices.
func (s *Servers) Follow(ctx context.Context, objects policy.Objects) error {
	s.ctx, s.objects = ctx, objects
	return objects.Inform(ctx, s.Resource(), s.update)
}

// Wait waits for the goroutines started by Follow.
func (s *Servers) Wait() { s.running.Wait() }

func (s *Servers) update(c policy.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := c.Key.Name
	before, known := s.services[name]
	if c.Deleted {
		delete(s.services, name)
		if of := before.GroupVersion; known && s.opts.BuiltIn != nil && s.opts.BuiltIn(of.Group, of.Version) {
			s.hidden[of] = true
		}
	} else {
		now := parse(c.Tree)
		if known && equal(before, now) {
			return
		}
		s.services[name] = now
		delete(s.hidden, now.GroupVersion)
	}
	s.publish()
	if c.Deleted || s.services[name].address == nil {
		return
	}
	if b := s.backends[*s.services[name].address]; b != nil {
		b.wake()
	}
}

func equal(a, b APIService) bool {
	same := a.address == b.address || a.address != nil && b.address != nil && *a.address == *b.address
	a.address, b.address = nil, nil
	return same && a == b
}

// publish rebuilds the routes, creates missing backends, and closes unused backends.
func (s *Servers) publish() {
	r := &routes{remote: map[discovery.GroupVersion]*Server{}, hidden: maps.Clone(s.hidden)}
	used := map[address]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.services)) {
		a := s.services[name]
		if a.Group == s.own {
			continue
		}
		r.services = append(r.services, a)
		if a.address == nil {
			continue
		}
		used[*a.address] = true
		r.remote[a.GroupVersion] = &Server{APIService: a, name: name, backend: s.backend(*a.address)}
	}
	s.current.Store(r)
	s.content.Add(1)
	for at, b := range s.backends {
		if !used[at] {
			delete(s.backends, at)
			b.close()
		}
	}
}

func (s *Servers) backend(a address) *backend {
	b := s.backends[a]
	if b == nil {
		b = newBackend(s, a)
		s.backends[a] = b
		b.run(s.ctx)
	}
	return b
}

// Find returns the remote server of an API version. It returns nil if this server itself serves the
// version, or if the version is unknown.
func (s *Servers) Find(group, version string) *Server {
	return s.current.Load().remote[discovery.GroupVersion{Group: group, Version: version}]
}

func (s *Servers) versionsOf(b *backend) []discovery.GroupVersion {
	var all []discovery.GroupVersion
	for v, server := range s.current.Load().remote {
		if server.backend == b {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b discovery.GroupVersion) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version))
	})
	return all
}

func contains(all []discovery.GroupVersion, v discovery.GroupVersion) bool {
	return slices.Contains(all, v)
}

// keep reserves memory for cached discovery and OpenAPI documents. It reports whether the limit
// allows this. A negative number of bytes releases memory.
func (s *Servers) keep(more int64) bool {
	if s.kept.Add(more) > maxKept && more > 0 {
		s.kept.Add(-more)
		return false
	}
	return true
}

func (s *Servers) contentChanged() { s.content.Add(1) }

// Generation returns a number that changes whenever Content changes.
func (s *Servers) Generation() uint64 { return s.content.Load() }

// Content is a snapshot of APIServices and their servers.
type Content struct {
	// Services includes the APIServices of this server's own versions.
	Services []APIService
	// Hidden holds the built-in versions whose APIServices were deleted. This server still serves
	// them, but discovery omits them until a restart recreates the APIServices.
	Hidden map[discovery.GroupVersion]bool
	// Documents holds the discovery entry of each remote version.
	Documents map[discovery.GroupVersion][]byte
	// Hashes holds the hash of the OpenAPI v3 document of each remote version.
	Hashes map[discovery.GroupVersion]string
	// Old holds the OpenAPI v2 documents of remote versions whose servers have no OpenAPI v3.
	Old map[discovery.GroupVersion]*openapi.Remote
	// OpenAPI holds the OpenAPI v2 document of each remote server.
	OpenAPI []*openapi.Remote
}

// Content returns the current content, which may be newer than the caller's Generation.
func (s *Servers) Content() Content {
	r := s.current.Load()
	c := Content{
		Services: r.services, Hidden: r.hidden, Documents: map[discovery.GroupVersion][]byte{},
		Hashes: map[discovery.GroupVersion]string{}, Old: map[discovery.GroupVersion]*openapi.Remote{},
	}
	seen := map[*backend]bool{}
	for _, a := range r.services {
		server := r.remote[a.GroupVersion]
		if server == nil {
			continue
		}
		b := server.backend
		d, o := b.discovery.Load(), b.openapi.Load()
		freshness := discovery.Current
		if !d.current {
			freshness = discovery.Stale
		}
		c.Documents[a.GroupVersion] = d.versions[a.GroupVersion].Document(a.Version, freshness)
		if hash, ok := o.hashes[a.GroupVersion]; ok {
			c.Hashes[a.GroupVersion] = hash
		}
		if o.old && o.document != nil {
			c.Old[a.GroupVersion] = o.document
		}
		if o.document != nil && !seen[b] {
			c.OpenAPI = append(c.OpenAPI, o.document)
		}
		seen[b] = true
	}
	return c
}
