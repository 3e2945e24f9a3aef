package webhook

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// hooks holds all webhooks of one type and follows configuration changes. Requests read current
// without a lock.
type hooks struct {
	resource meta.GroupResource
	parse    func(*policy.Object) []*hook
	callers  *Callers
	metrics  *Metrics

	mu             sync.Mutex // guards configurations and serializes changes to current
	configurations map[string][]*hook
	current        atomic.Pointer[match.Index[*hook]]
}

var _ policy.Follower = (*hooks)(nil)

func (s *hooks) index() *match.Index[*hook] { return s.current.Load() }

func (s *hooks) Resource() meta.GroupResource { return s.resource }

func (s *hooks) Follow(ctx context.Context, objects policy.Objects) error {
	return objects.Inform(ctx, s.resource, s.update)
}

func (s *hooks) update(c policy.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.configurations[c.Key.Name]
	delete(s.configurations, c.Key.Name)
	if !c.Deleted {
		s.configurations[c.Key.Name] = s.parse(c.Object)
	}
	for _, h := range s.configurations[c.Key.Name] {
		if h.fault == nil {
			h.caller = s.callers.get(h.address) // get before releasing the old ones, to keep the connections of unchanged addresses
		}
		s.metrics.add(h.sort, h.name)
	}
	s.put()
	for _, h := range before {
		if h.fault == nil {
			s.callers.release(h.address)
		}
		s.metrics.remove(h.sort, h.name)
	}
}

// put publishes the hooks of all configurations. It numbers them in the order of the configuration
// names, so that all servers write the same audit annotations.
func (s *hooks) put() {
	var all []*hook
	for _, name := range slices.Sorted(maps.Keys(s.configurations)) {
		for _, h := range s.configurations[name] {
			ordered := *h // published hooks are immutable
			ordered.index = len(all)
			all = append(all, &ordered)
		}
	}
	s.current.Store(match.NewIndex(all, func(h *hook) *match.Criteria { return h.criteria }))
}
