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

// group is that of the kinds of policies, in platform form.
const group = "admissionregistration.platform.io"

// A Source knows the policies of one sort and their bindings. Requests read current alone and take no lock.
type Source struct {
	policies, bindings meta.GroupResource
	compile            func(spec tree.Tree) *expressions.Policy
	params             *Params
	// mayWait tells whether a policy has to be evaluated where it may wait.
	mayWait func(p *expressions.Policy) bool

	mu          sync.Mutex // guards the next two
	definitions map[string]*definition
	bound       map[string]*binding

	current   atomic.Pointer[snapshot]
	followers []policy.Follower // keep the Source up to date
}

// A snapshot is what a Source knows at one time. A policy is in one of the two, by whether its expressions
// may have to wait for an authorizer.
type snapshot struct {
	inTurn, waiting *match.Index[*hook]
	byPolicy        map[string]*hook // all of them
}

// A hook is a policy with its bindings, of which there is at least one.
type hook struct {
	*definition
	bindings []*binding
	from     *paramKind // nil if the policy has no parameters
	fault    error      // why it cannot be evaluated
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

// A follower is one of the two resources of a Source.
type follower struct {
	resource meta.GroupResource
	begin    func(ctx context.Context, objects policy.Objects)
	onChange func(policy.Change)
}

// Resource implements policy.Follower.
func (f *follower) Resource() meta.GroupResource { return f.resource }

// Follow implements policy.Follower.
func (f *follower) Follow(ctx context.Context, objects policy.Objects) error {
	f.begin(ctx, objects)
	return objects.Inform(ctx, f.resource, f.onChange)
}

// begin also watches for kinds of parameters that are defined later. The goroutine ends with ctx, which is
// that of the server.
func (s *Source) begin(ctx context.Context, objects policy.Objects) {
	s.params.begin(ctx, objects)
	go func() {
		for {
			changed := s.params.kinds.Changed()
			s.params.refresh()
			s.publish() // also what lacks its kind from now on
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

// onPolicy takes in a change of a policy. Compiling takes long, so it is done without the lock; changes of
// one resource come one after the other. A change of the status alone compiles nothing.
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

// onBinding takes in a change of a binding.
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

// change makes a change that concerns one policy, and returns when it is in effect: when the parameters of the policy are
// known. What becomes of other policies does not wait for that.
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

// wanted are the kinds of the parameters of policies that are bound. A policy without a binding does
// nothing, and costs no memory for its parameters.
func (s *Source) wanted() map[meta.GroupVersionKind]bool {
	all := map[meta.GroupVersionKind]bool{}
	for _, b := range s.bound {
		if d := s.definitions[b.policy]; d != nil && d.params != nil {
			all[*d.params] = true
		}
	}
	return all
}

// publish puts what is known into effect. A policy whose parameters are being read is what it was before until they are known.
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
