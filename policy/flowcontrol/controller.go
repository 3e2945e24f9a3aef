package flowcontrol

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// A Controller shares the seats of a server among requests. Many goroutines may use it.
type Controller struct {
	// Watches are those that are open: who lets a watch in adds it.
	Watches Watches

	seats   int // of the server
	clock   clock
	current atomic.Pointer[configuration]
	closed  chan struct{} // nobody is to wait any longer
	close   sync.Once

	mu        sync.Mutex // guards what follows, and is taken before the lock of any level
	following int        // resources whose objects are not all known yet
	schemas   map[string]*schema
	specs     map[string]levelSpec
	fixed     fixed
	fraction  float64 // of its target, that every level was given
	nominals  int     // the sum of the nominal limits
}

// New makes a controller of a server with so many seats. Until it follows the objects, only those count that are always
// there.
func New(n *meta.Naming, seats int) *Controller {
	c := &Controller{
		seats: max(seats, 1), clock: clock{time.Now()}, closed: make(chan struct{}),
		schemas: map[string]*schema{}, specs: map[string]levelSpec{}, fixed: newFixed(n),
	}
	c.current.Store(&configuration{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.configure()
	return c
}

// Close refuses all who wait, and all who would have to.
func (c *Controller) Close() { c.close.Do(func() { close(c.closed) }) }

// adjustment is how often the limits of the levels are set anew.
const adjustment = 10 * time.Second

// Run lends seats from one level to another, and drops levels that have served their last request, until the context ends.
func (c *Controller) Run(ctx context.Context) {
	ticker := time.NewTicker(adjustment)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.tick()
		}
	}
}

// tick does what is due every ten seconds. Building the configuration ends with an adjustment, so there is one in
// either case.
func (c *Controller) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.Load().anyUndesired() {
		c.configure()
		return
	}
	c.adjust()
}

// Followers keep the controller up with the objects.
func (c *Controller) Followers() []policy.Follower {
	return []policy.Follower{
		&follower{c, schemasResource, func(o *policy.Object, name string) {
			if o == nil {
				delete(c.schemas, name)
			} else {
				c.schemas[name] = parseObject(o, parseSchema)
			}
		}},
		&follower{c, levelsResource, func(o *policy.Object, name string) {
			if o == nil {
				delete(c.specs, name)
			} else {
				c.specs[name] = parseObject(o, parseLevel)
			}
		}},
	}
}

// A follower takes in the objects of one resource.
type follower struct {
	controller *Controller
	resource   meta.GroupResource
	set        func(o *policy.Object, name string) // nil: there is none of that name any longer
}

// Resource implements policy.Follower.
func (f *follower) Resource() meta.GroupResource { return f.resource }

// Follow implements policy.Follower. What there is already is put into effect as a whole.
func (f *follower) Follow(ctx context.Context, objects policy.Objects) error {
	c := f.controller
	c.mu.Lock()
	c.following++
	c.mu.Unlock()
	err := objects.Inform(ctx, f.resource, f.update)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.following--; c.following == 0 {
		c.configure()
	}
	return err
}

// update takes in one change. While some resource is not all known yet, changes are only collected: requests would
// otherwise be classified by half of the configuration.
func (f *follower) update(change policy.Change) {
	c := f.controller
	c.mu.Lock()
	defer c.mu.Unlock()
	if change.Deleted {
		f.set(nil, change.Key.Name)
	} else {
		f.set(change.Object, change.Key.Name)
	}
	if c.following == 0 {
		c.configure()
	}
}

// A Classification remembers how the last request of a connection was classified: the next one is
// mostly of the same user and for the same resource. The zero value remembers nothing.
type Classification struct {
	configuration *configuration
	user          *authn.User
	verb          string
	group         string
	resource      string
	subresource   string
	namespace     string
	schema        *bound
	flow          uint64
}

// classify fills in what the attributes of a request lead to, unless it is known.
func (c *Classification) classify(by *configuration, a *authz.Attributes) {
	if c.configuration == by && c.user == a.User && c.namespace == a.Namespace && c.resource == a.Resource && c.verb == a.Verb &&
		c.group == a.Group && c.subresource == a.Subresource && a.ResourceRequest {
		return
	}
	c.schema = by.classify(a)
	c.flow = flowHash(c.schema.schema, a)
	c.configuration = nil
	if a.ResourceRequest { // the rules for paths look at the path
		c.configuration, c.user, c.verb, c.group, c.resource, c.subresource, c.namespace = by, a.User, a.Verb, a.Group, a.Resource, a.Subresource, a.Namespace
	}
}

// Admit lets a request in, at once or after a wait of at most longest, or refuses it with a *RejectedError. listing
// is what a list or a watch has to look at; nil for anything else. known is of the connection, which has one request at
// a time.
//
// The attributes are copied. The Request is the caller's until it calls Finish, which it must, or its seats are lost
// for good.
func (c *Controller) Admit(ctx context.Context, a *authz.Attributes, known *Classification, listing *Listing, longest time.Duration) (*Request, error) {
	r := requests.Get().(*Request)
	r.attributes = *a
	outcome, refusal := gone, (*RejectedError)(nil)
	for outcome == gone { // a level that goes meanwhile is not in the next configuration
		known.classify(c.current.Load(), a)
		r.schema = known.schema
		r.setWork(c.estimate(r, listing))
		outcome, refusal = r.schema.level.start(r, known.flow)
	}
	if outcome == queued {
		if err := r.wait(ctx, c.closed, longest); err != nil {
			r.recycle()
			return nil, err
		}
	}
	if outcome == refused {
		r.recycle()
		return nil, refusal
	}
	return r, nil
}

// flowHash is the hash of the flow of a request. Different schemas have different hashes even for the same user, so
// their flows get different hands.
func flowHash(s *schema, a *authz.Attributes) uint64 {
	switch {
	case s.distinguisher == byUser && a.User != nil:
		return s.hash ^ maphash.String(hashSeed, a.User.Name)
	case s.distinguisher == byNamespace:
		return s.hash ^ maphash.String(hashSeed, a.Namespace)
	}
	return s.hash
}

// distinguisher is what tells the flow of a request from others, in words.
func (r *Request) distinguisher() string {
	switch r.schema.distinguisher {
	case byUser:
		if r.attributes.User != nil {
			return r.attributes.User.Name
		}
	case byNamespace:
		return r.attributes.Namespace
	}
	return ""
}

// estimate is the work of a request. Requests for tokens are writes by their verb, but change no object that anybody
// watches.
func (c *Controller) estimate(r *Request, listing *Listing) Work {
	most := r.schema.most
	r.watches = -1
	switch r.attributes.Verb {
	case "list", "watch":
		if listing != nil {
			return listing.work(most)
		}
	case "create", "update", "patch", "delete":
		if r.attributes.ResourceRequest && r.attributes.Subresource != "token" {
			if r.watches = 0; c.Watches.total.Load() >= watchesPerSeat {
				r.watches = c.Watches.interested(&r.attributes)
				return writeWork(r.watches, most)
			}
		}
	}
	return Work{InitialSeats: 1}
}
