package admissionpolicy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/match"
)

const group = "admissionregistration.platform.io"

// A Source holds the policies of one type and their bindings. Requests read only the snapshot in
// current, which requires no lock.
type Source struct {
	policies, bindings meta.GroupResource
	compile            func(spec tree.Tree) *expressions.Policy
	params             *Params
	// mayWait reports whether evaluating a policy may block.
	mayWait func(p *expressions.Policy) bool

	mu          sync.Mutex // guards definitions and bound
	definitions map[string]*definition
	bound       map[string]*binding

	current   atomic.Pointer[snapshot]
	followers []policy.Follower // keep the Source up to date
}

// A snapshot is an immutable view of all hooks. waiting holds the hooks that may call a remote
// authorizer, inTurn all others.
type snapshot struct {
	inTurn, waiting *match.Index[*hook]
	byPolicy        map[string]*hook // hooks of both indexes
}

// A hook is a policy with at least one binding.
type hook struct {
	*definition
	bindings []*binding
	from     *paramKind // nil without parameters
	fault    error      // reason why it cannot be evaluated
}

func newSource(policies, bindings string, compile func(tree.Tree) *expressions.Policy, params *Params, mayWait func(*expressions.Policy) bool) *Source {
	s := &Source{
		policies: meta.GroupResource{Group: group, Resource: policies}, bindings: meta.GroupResource{Group: group, Resource: bindings},
		compile: compile, params: params, mayWait: mayWait,
		definitions: map[string]*definition{}, bound: map[string]*binding{},
	}
	s.current.Store(&snapshot{})
	s.followers = []policy.Follower{
		&follower{s.policies, s.begin, s.onPolicy},
		&follower{s.bindings, s.params.begin, s.onBinding},
	}
	return s
}

// A follower keeps a Source's policies or bindings up to date.
type follower struct {
	resource meta.GroupResource
	begin    func(ctx context.Context, objects policy.Objects)
	onChange func(policy.Change)
}

func (f *follower) Resource() meta.GroupResource { return f.resource }

func (f *follower) Follow(ctx context.Context, objects policy.Objects) error {
	f.begin(ctx, objects)
	return objects.Inform(ctx, f.resource, f.onChange)
}

// begin starts the Params and a goroutine that runs until ctx ends. The goroutine updates the
// cached param kinds and the policies whenever the served kinds change.
func (s *Source) begin(ctx context.Context, objects policy.Objects) {
	s.params.begin(ctx, objects)
	go func() {
		for {
			changed := s.params.kinds.Changed()
			s.params.refresh()
			s.publish() // includes policies whose kind was removed
			s.params.await(nil)
			s.publish()
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// onPolicy handles a change to a policy and ignores status updates. It compiles the policy without
// holding the lock, because compilation is slow. The caller must serialize changes to the same
// resource.
func (s *Source) onPolicy(c policy.Change) {
	s.mu.Lock()
	before := s.definitions[c.Key.Name]
	s.mu.Unlock()
	var d *definition
	switch {
	case c.Deleted:
	case before != nil && tree.StrictEqual(before.spec, c.Tree.Object("spec")):
		return
	default:
		d = parseDefinition(c.Object, s.params.kinds.Serves, s.compile)
	}
	s.change(c.Key.Name, func() {
		if d == nil {
			delete(s.definitions, c.Key.Name)
		} else {
			s.definitions[c.Key.Name] = d
		}
	})
}

func (s *Source) onBinding(c policy.Change) {
	b := parseBinding(c.Object, s.params.kinds.Serves)
	s.change(b.policy, func() {
		if c.Deleted {
			delete(s.bound, c.Key.Name)
		} else {
			s.bound[c.Key.Name] = b
		}
	})
}

// change applies a change to one policy. It returns once the params have been read and the change
// is in effect. Other policies do not wait for these params.
func (s *Source) change(policy string, make func()) {
	s.mu.Lock()
	make()
	var from *meta.GroupVersionKind
	if d := s.definitions[policy]; d != nil {
		from = d.params
	}
	s.params.want(s, s.wanted())
	s.mu.Unlock()
	if from != nil {
		s.params.await(from)
	}
	s.publish()
}

// wanted returns the param kinds of policies with a binding. Other policies have no effect and need
// no cached params.
func (s *Source) wanted() map[meta.GroupVersionKind]bool {
	all := map[meta.GroupVersionKind]bool{}
	for _, b := range s.bound {
		if d := s.definitions[b.policy]; d != nil && d.params != nil {
			all[*d.params] = true
		}
	}
	return all
}

// publish replaces the snapshot that requests read. If the params of a policy have not been read
// yet, the snapshot contains the policy's previous version, if any.
func (s *Source) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, all := s.current.Load().byPolicy, map[string]*hook{}
	bindings := map[string][]*binding{}
	for _, name := range slices.Sorted(maps.Keys(s.bound)) {
		b := s.bound[name]
		bindings[b.policy] = append(bindings[b.policy], b)
	}
	var inTurn, waiting []*hook
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		d := s.definitions[name]
		if d == nil {
			continue
		}
		h := &hook{definition: d, bindings: bindings[name], fault: d.fault}
		if d.params != nil {
			from, err := s.params.get(*d.params)
			h.from, h.fault = from, errors.Join(h.fault, err)
			if err == errReading {
				h = before[name]
			}
		}
		if h == nil {
			continue
		}
		all[name] = h
		if s.mayWait(h.compiled) {
			waiting = append(waiting, h)
		} else {
			inTurn = append(inTurn, h)
		}
	}
	criteria := func(h *hook) *match.Criteria { return h.criteria }
	s.current.Store(&snapshot{match.NewIndex(inTurn, criteria), match.NewIndex(waiting, criteria), all})
}
