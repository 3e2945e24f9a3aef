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

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/services"
)

// Options say how servers are reached. All are required, but for the last three.
type Options struct {
	Naming   *meta.Naming
	Resolver *services.Resolver
	// ClientCertificate is what servers are told to believe identity headers behind.
	ClientCertificate func() *tls.Certificate
	Log               *slog.Logger
	// Identity are the headers that servers may have been told to believe, beside those that are sent.
	Identity IdentityHeaders
	// PassRedirects passes redirects of a server on to the client, which is refused otherwise.
	PassRedirects bool
	// BuiltIn tells whether this server serves a version without a definition; nil: none.
	BuiltIn func(group, version string) bool
}

// Servers are the servers of all APIServices. Many goroutines may use them.
type Servers struct {
	opts Options
	own  string // the group of APIServices

	mu       sync.Mutex // guards the next three, and writes of current
	services map[string]APIService
	hidden   map[present.GroupVersion]bool // built-in versions whose APIService was deleted
	backends map[address]*backend
	current  atomic.Pointer[routes]

	// Set by Follow.
	ctx     context.Context // of the questions to backends
	objects policy.Objects

	running sync.WaitGroup
	content atomic.Uint64 // rises with each change of what is served
	kept    atomic.Int64  // bytes of what backends have said
	reading *limits.Budget
	parsing sync.Mutex // held while a large document is parsed, which takes several times its size
}

// routes are the APIServices between two changes.
type routes struct {
	services []APIService
	remote   map[present.GroupVersion]*Server
	hidden   map[present.GroupVersion]bool
}

// maxKept bounds what is kept of all backends, in bytes.
const maxKept = 32 << 20

var errKept = errors.New("all servers together say more than is kept")

// New makes Servers that know no APIService. They ask nobody before Follow.
func New(o Options) *Servers {
	s := &Servers{
		opts: o, own: o.Naming.Translate(present.APIRegistrationGroup),
		services: map[string]APIService{}, hidden: map[present.GroupVersion]bool{}, backends: map[address]*backend{}, reading: limits.NewBudget(maxReading),
	}
	s.current.Store(&routes{})
	return s
}

// Resource implements policy.Follower.
func (s *Servers) Resource() meta.GroupResource {
	return meta.GroupResource{Group: present.APIRegistrationGroup, Resource: "apiservices"}
}

// Follow implements policy.Follower. Backends are asked for what they serve until ctx ends.
func (s *Servers) Follow(ctx context.Context, objects policy.Objects) error {
	s.ctx, s.objects = ctx, objects
	return objects.Inform(ctx, s.Resource(), s.update)
}

// Wait waits for the end of what Follow has begun.
func (s *Servers) Wait() { s.running.Wait() }

// update takes in a change of an APIService.
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

// publish makes routes of the APIServices, with the backends that these need, and ends the others.
func (s *Servers) publish() {
	r := &routes{remote: map[present.GroupVersion]*Server{}, hidden: maps.Clone(s.hidden)}
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

// backend is the one of an address.
func (s *Servers) backend(a address) *backend {
	b := s.backends[a]
	if b == nil {
		b = newBackend(s, a)
		s.backends[a] = b
		b.run(s.ctx)
	}
	return b
}

// Find is the server of a version; nil if this server itself serves it, or nobody.
func (s *Servers) Find(group, version string) *Server {
	return s.current.Load().remote[present.GroupVersion{Group: group, Version: version}]
}

// versionsOf are the versions that a backend serves, in order.
func (s *Servers) versionsOf(b *backend) []present.GroupVersion {
	var all []present.GroupVersion
	for v, server := range s.current.Load().remote {
		if server.backend == b {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b present.GroupVersion) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version))
	})
	return all
}

func contains(all []present.GroupVersion, v present.GroupVersion) bool {
	return slices.Contains(all, v)
}

// keep takes so many bytes more of what is kept, if there is room.
func (s *Servers) keep(more int64) bool {
	if s.kept.Add(more) > maxKept && more > 0 {
		s.kept.Add(-more)
		return false
	}
	return true
}

func (s *Servers) contentChanged() { s.content.Add(1) }

// Generation counts the changes of what Content returns.
func (s *Servers) Generation() uint64 { return s.content.Load() }

// Content is what APIServices and the servers behind them say, at one moment.
type Content struct {
	// Services are all APIServices, those of this server among them.
	Services []APIService
	// Hidden are the built-in versions that discovery does not show, though they are served: somebody has deleted their
	// APIServices, which come back with the next start.
	Hidden map[present.GroupVersion]bool
	// Documents are the entries of versions that are served elsewhere, in the list of all groups.
	Documents map[present.GroupVersion][]byte
	// Hashes are those of the documents of version 3 of OpenAPI, of versions that are served elsewhere.
	Hashes map[present.GroupVersion]string
	// Old are the documents of version 2 of versions whose server has none of version 3.
	Old map[present.GroupVersion]*openapi.Remote
	// OpenAPI are the documents of version 2.
	OpenAPI []*openapi.Remote
}

// Content is what is known now. It may be newer than the Generation that was read before.
func (s *Servers) Content() Content {
	r := s.current.Load()
	c := Content{
		Services: r.services, Hidden: r.hidden, Documents: map[present.GroupVersion][]byte{},
		Hashes: map[present.GroupVersion]string{}, Old: map[present.GroupVersion]*openapi.Remote{},
	}
	asked := map[*backend]bool{}
	for _, a := range r.services {
		server := r.remote[a.GroupVersion]
		if server == nil {
			continue
		}
		b := server.backend
		d, o := b.discovery.Load(), b.openapi.Load()
		freshness := present.Current
		if !d.current {
			freshness = present.Stale
		}
		c.Documents[a.GroupVersion] = d.versions[a.GroupVersion].Document(a.Version, freshness)
		if hash, ok := o.hashes[a.GroupVersion]; ok {
			c.Hashes[a.GroupVersion] = hash
		}
		if o.old && o.document != nil {
			c.Old[a.GroupVersion] = o.document
		}
		if o.document != nil && !asked[b] {
			c.OpenAPI = append(c.OpenAPI, o.document)
		}
		asked[b] = true
	}
	return c
}
