package http

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// An access is the right by which watches run: what they were let in by, and what they ask for.
// Watches for which both are the same share it.
type access struct {
	proof *proof
	asked authz.Attributes // its User is whom the watches act for
	key   authn.Digest

	// The guard's mutex guards the rest.
	watches map[*stream]struct{}
	// checked: it was found to be good at that generation of all rights, and is so until then, if
	// until is set.
	checked    bool
	generation uint64
	until      time.Time
	busy       bool // somebody finds out
	// doubted: the last look found no right. A second one has to find none either.
	doubted bool
}

// due tells whether the access may have ended.
func (a *access) due(generation uint64, now time.Time) bool {
	return !a.busy && (!a.checked || a.generation != generation || !a.until.IsZero() && !now.Before(a.until))
}

// A guard ends watches whose users may no longer watch. A few times a second it looks whether any right
// may have changed, or any credential has ended; if so, it asks again what those watches were asked
// when they began. A request as theirs would get the same answer. Credentials that are refused end
// watches at once. A right that is not there has to be missing at a second look, soon after: a binding
// that takes the place of another may be seen after that one has gone.
type guard struct {
	mu  sync.Mutex // guards the rest
	all map[authn.Digest]*access
	// seen is the generation of the last look at all of them. Nothing is due at the same one before
	// next, if that is set, unless something has come to be unchecked since.
	seen      uint64
	next      time.Time
	unchecked bool
}

const (
	// guardPeriod is the time between two looks, doubtPeriod that until the second look.
	guardPeriod = 2 * doubtPeriod
	doubtPeriod = 200 * time.Millisecond
	// mostChecks bounds how many accesses are looked at at once: remotes may be slow to answer.
	mostChecks = 256
	// lastGrace is how long a client may take to read what was on its way when its watch ends.
	lastGrace = time.Second
)

// join lets a watch run by an access, or by the same one that others run by. The access is looked
// at once more: what was decided on may have changed since.
func (g *guard) join(st *stream, a *access) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if same := g.all[a.key]; same != nil {
		a = same
	} else {
		if g.all == nil {
			g.all = map[authn.Digest]*access{}
		}
		g.all[a.key] = a
		a.watches = map[*stream]struct{}{}
	}
	a.checked, a.doubted, g.unchecked = false, false, true
	a.watches[st] = struct{}{}
	st.access = a
}

// leave is the end of a watch.
func (g *guard) leave(st *stream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := st.access
	if a == nil {
		return
	}
	delete(a.watches, st)
	if len(a.watches) == 0 && g.all[a.key] == a {
		delete(g.all, a.key)
	}
}

// due are those that may have ended. They are busy from now on.
func (g *guard) due(generation uint64, now time.Time) (list []*access) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if generation == g.seen && !g.unchecked && (g.next.IsZero() || now.Before(g.next)) {
		return nil
	}
	g.seen, g.next, g.unchecked = generation, time.Time{}, false
	for _, a := range g.all {
		if a.due(generation, now) {
			a.busy = true
			list = append(list, a)
		} else {
			g.expect(a.until)
		}
	}
	return list
}

// doubtful are those that need a second look. They are busy from now on.
func (g *guard) doubtful() (list []*access) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.unchecked {
		return nil
	}
	for _, a := range g.all {
		if a.doubted && !a.busy {
			a.busy = true
			list = append(list, a)
		}
	}
	return list
}

// expect makes the next look come no later than that.
func (g *guard) expect(at time.Time) {
	if !at.IsZero() && (g.next.IsZero() || at.Before(g.next)) {
		g.next = at
	}
}

// settle notes what was found out about an access, and gives the watches that have to end.
func (g *guard) settle(a *access, v verdict, generation uint64) []*stream {
	g.mu.Lock()
	defer g.mu.Unlock()
	a.busy = false
	a.checked, a.generation, a.until = !v.unknown, generation, v.until
	g.unchecked = g.unchecked || v.unknown || generation != g.seen
	g.expect(v.until)
	switch {
	case v.refusal == nil:
		a.doubted = a.doubted && v.unknown
		return nil
	case v.right && !a.doubted:
		a.doubted, a.checked, g.unchecked = true, false, true
		return nil
	}
	if g.all[a.key] == a {
		delete(g.all, a.key)
	}
	return slices.Collect(maps.Keys(a.watches))
}

// guardWatches ends watches until the context does.
func (s *Server) guardWatches(ctx context.Context) {
	slots := make(chan struct{}, mostChecks)
	look := time.NewTicker(doubtPeriod)
	defer look.Stop()
	for second := false; ; second = !second {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		generation := s.generation() // before anything is asked
		due := s.guard.doubtful()
		if !second {
			due = append(due, s.guard.due(generation, time.Now())...)
		}
		for _, a := range due {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				s.check(a, generation)
			}()
		}
	}
}

// generation is that of all rights.
func (s *Server) generation() uint64 {
	if s.opts.Generation == nil {
		return 0
	}
	return s.opts.Generation()
}

// check finds out whether an access is still good, and ends its watches if not.
func (s *Server) check(a *access, generation uint64) {
	v := s.judge(a)
	ended := s.guard.settle(a, v, generation)
	if len(ended) > 0 {
		s.log.Info("http: watches end, their user may no longer watch", "user", a.asked.User.Name, "watches", len(ended), "reason", v.refusal.Message)
	}
	for _, st := range ended {
		st.revoke(v.refusal)
	}
}

// A verdict is what has become of an access.
type verdict struct {
	refusal *meta.Status // nil: it is good
	right   bool         // what is refused is the right, not the credential
	until   time.Time    // when it is to be asked again; zero: not before something changes
	unknown bool         // nobody could say; it is to be asked again soon
}

// judge asks what the watches of an access were asked when they began.
func (s *Server) judge(a *access) (v verdict) {
	defer func() {
		if fault := recover(); fault != nil {
			s.log.Error("http: panic while looking after watches", "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
			v = verdict{unknown: true}
		}
	}()
	r := a.proof.request()
	user, err := s.opts.Authenticator.Authenticate(r)
	switch {
	case errors.Is(err, authn.ErrUnavailable):
		return verdict{unknown: true}
	case err != nil || user == nil:
		return verdict{refusal: unauthorized()}
	}
	until := user.Until
	rights := &failureRecorder{Authorizer: s.opts.Authorizer}
	if a.proof.impersonates {
		become := s.impersonator
		become.Authorizer = rights
		as, err := become.Become(user, r.Headers)
		var refusal *meta.Status
		switch {
		case rights.failed:
			return verdict{unknown: true}
		case errors.As(err, &refusal):
			return verdict{refusal: refusal, right: true}
		case as != nil:
			user = as
		}
	}
	if user.Name != a.asked.User.Name {
		return verdict{refusal: unauthorized()} // the credential is somebody else's now
	}
	asked := a.asked
	asked.User = user
	decision, reason := rights.Authorize(asked)
	switch {
	case rights.failed && decision != authz.Allow:
		return verdict{unknown: true}
	case decision != authz.Allow:
		return verdict{refusal: asked.Forbidden(reason), right: true}
	}
	return verdict{until: until}
}

// failureRecorder is an authorizer that remembers whether a mode could not find out.
type failureRecorder struct {
	authz.Authorizer
	failed bool
}

// Authorize implements authz.Authorizer.
func (t *failureRecorder) Authorize(a authz.Attributes) (authz.Decision, string) {
	decision, reason := t.Authorizer.Authorize(a)
	t.failed = t.failed || decision == authz.Failed
	return decision, reason
}

// access is the one by which the watch of a request may run.
func (s *Server) access(x *exchange) *access {
	x.proof.impersonates = x.heading.impersonates
	x.proof.credentials.Memory = &authn.Memory{}
	return &access{
		proof: x.proof, asked: s.attributes(x),
		key: x.proof.digest(x.info.Group, x.info.Version, x.info.Resource, x.info.Namespace, x.info.Name,
			x.query.get("fieldSelector"), x.query.get("labelSelector")),
	}
}

// revoke ends the watch soon, with a Status that says why. What its client has not read by then
// is lost.
func (st *stream) revoke(refusal *meta.Status) {
	st.mu.Lock()
	st.refusal = refusal
	st.mu.Unlock()
	st.stop()
	time.AfterFunc(lastGrace, st.cut)
}

// cut closes the connection of a watch that has not ended.
func (st *stream) cut() {
	select {
	case <-st.done:
	default:
		_ = st.conn.Close() // nobody reads, and nobody is left to tell
	}
}
