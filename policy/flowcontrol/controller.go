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

// A Controller divides a server's seats among requests. It is safe for concurrent use.
type Controller struct {
	// Watches counts the open watches. The caller must add each admitted watch to it.
	Watches Watches

	seats   int       // total seats of the server
	epoch   time.Time // times of levels are nanoseconds since then
	current atomic.Pointer[configuration]
	closed  chan struct{} // closed to reject all waiting requests
	close   sync.Once

	mu        sync.Mutex // guards the fields below; taken before the lock of any level
	following int        // number of resources not completely read yet
	schemas   map[string]*schema
	specs     map[string]levelSpec
	fixed     fixed
	fraction  float64 // fraction of its target that each level gets
	nominals  int     // sum of nominal limits
}

// New returns a Controller with the given number of seats. Until its Followers run, only the
// mandatory objects apply.
func New(n *meta.Naming, seats int) *Controller {
	c := &Controller{
		seats: max(seats, 1), epoch: time.Now(), closed: make(chan struct{}),
		schemas: map[string]*schema{}, specs: map[string]levelSpec{}, fixed: newFixed(n),
	}
	c.current.Store(&configuration{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.configure()
	return c
}

// Close rejects all waiting requests, and later requests that would have to wait.
func (c *Controller) Close() { c.close.Do(func() { close(c.closed) }) }

const adjustment = 10 * time.Second

// Run adjusts limits and removes drained levels periodically until ctx ends.
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

func (c *Controller) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.Load().anyUndesired() {
		c.configure()
		return
	}
	c.adjust()
}

// Followers returns the followers of FlowSchemas and PriorityLevelConfigurations.
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

type follower struct {
	controller *Controller
	resource   meta.GroupResource
	set        func(o *policy.Object, name string) // o is nil after a deletion
}

func (f *follower) Resource() meta.GroupResource { return f.resource }

// Follow reads the existing objects of one resource. The follower that finishes last applies them.
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

// update applies one change. Until all resources have been read, it only records changes, so that
// no request is classified by a partial configuration.
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

// A Classification caches the schema and flow of a connection's last request, because the next
// request often has the same schema and flow. The zero value is an empty cache.
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

func (c *Classification) classify(by *configuration, a *authz.Attributes) {
	if c.configuration == by && c.user == a.User && c.namespace == a.Namespace && c.resource == a.Resource && c.verb == a.Verb &&
		c.group == a.Group && c.subresource == a.Subresource && a.ResourceRequest {
		return
	}
	c.schema = by.classify(a)
	c.flow = flowHash(c.schema.schema, a)
	c.configuration = nil
	if a.ResourceRequest { // rules for non-resource requests depend on the path
		c.configuration, c.user, c.verb, c.group, c.resource, c.subresource, c.namespace = by, a.User, a.Verb, a.Group, a.Resource, a.Subresource, a.Namespace
	}
}

// Admit admits a request, or queues it for at most the duration longest. The error for a rejected
// request is a *RejectedError. listing describes the cost of a list or watch, and is nil for other
// requests. known caches the classification per connection.
//
// Admit copies the attributes. The caller must call Finish on the Request to free its seats.
func (c *Controller) Admit(ctx context.Context, a *authz.Attributes, known *Classification, listing *Listing, longest time.Duration) (*Request, error) {
	r := requests.Get().(*Request)
	*r = Request{admitted: r.admitted, attributes: *a}
	outcome, refusal := gone, (*RejectedError)(nil)
	for outcome == gone { // the level was removed, so classify again
		known.classify(c.current.Load(), a)
		r.schema = known.schema
		r.work = c.estimate(r, listing)
		outcome, refusal = r.schema.level.start(r, known.flow)
	}
	if outcome == queued {
		if err := r.wait(ctx, c.closed, longest); err != nil {
			requests.Put(r)
			return nil, err
		}
	}
	if outcome == refused {
		requests.Put(r)
		return nil, refusal
	}
	return r, nil
}

// flowHash includes the schema, so that a user has different queues in different schemas.
func flowHash(s *schema, a *authz.Attributes) uint64 {
	switch {
	case s.distinguisher == byUser && a.User != nil:
		return s.hash ^ maphash.String(hashSeed, a.User.Name)
	case s.distinguisher == byNamespace:
		return s.hash ^ maphash.String(hashSeed, a.Namespace)
	}
	return s.hash
}

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

// estimate returns the estimated work of a request. A write costs more if many watches receive it,
// except for the creation of a token, which causes no watch events.
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
