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

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// An access is the right by which watches run: what they were let in by, and what they ask for.
// Watches for which both are the same share it.
type watchGrant struct {
	credentials *credentialSnapshot
	attributes  authz.Attributes // its User is whom the watches act for
	key         authn.Digest

	// The guard's mutex guards the rest.
	watches map[*watchStream]struct{}
	// checked: it was found to be good at that generation of all rights, and is so until then, if
	// until is set.
	checked    bool
	generation uint64
	validUntil time.Time
	checking   bool // somebody finds out
	// deniedOnce: the last look found no right. A second one has to find none either.
	deniedOnce bool
}

// due tells whether the access may have ended.
func (a *watchGrant) due(generation uint64, now time.Time) bool {
	return !a.checking && (!a.checked || a.generation != generation || !a.validUntil.IsZero() && !now.Before(a.validUntil))
}

// A guard ends watches whose users may no longer watch. A few times a second it looks whether any right
// may have changed, or any credential has ended; if so, it asks again what those watches were asked
// when they began. A request as theirs would get the same answer. Credentials that are refused end
// watches at once. A right that is not there has to be missing at a second look, soon after: a binding
// that takes the place of another may be seen after that one has gone.
type reauthorizer struct {
	mu     sync.Mutex // guards the rest
	grants map[authn.Digest]*watchGrant
	// lastGeneration is the generation of the last look at all of them. Nothing is due at the same one before
	// next, if that is set, unless something has come to be unchecked since.
	lastGeneration uint64
	nextExpiry     time.Time
	unchecked      bool
}

const (
	// recheckPeriod is the time between two looks, confirmPeriod that until the second look.
	recheckPeriod = 2 * confirmPeriod
	confirmPeriod = 200 * time.Millisecond
	// maxConcurrentChecks bounds how many accesses are looked at at once: remotes may be slow to answer.
	maxConcurrentChecks = 256
	// revokeGrace is how long a client may take to read what was on its way when its watch ends.
	revokeGrace = time.Second
)

// add lets a watch run by an access, or by the same one that others run by. The access is looked
// at once more: what was decided on may have changed since.
func (g *reauthorizer) add(st *watchStream, a *watchGrant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if same := g.grants[a.key]; same != nil {
		a = same
	} else {
		if g.grants == nil {
			g.grants = map[authn.Digest]*watchGrant{}
		}
		g.grants[a.key] = a
		a.watches = map[*watchStream]struct{}{}
	}
	a.checked, a.deniedOnce, g.unchecked = false, false, true
	a.watches[st] = struct{}{}
	st.grant = a
}

// remove is the end of a watch.
func (g *reauthorizer) remove(st *watchStream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := st.grant
	if a == nil {
		return
	}
	delete(a.watches, st)
	if len(a.watches) == 0 && g.grants[a.key] == a {
		delete(g.grants, a.key)
	}
}

// due are those that may have ended. They are busy from now on.
func (g *reauthorizer) due(generation uint64, now time.Time) (list []*watchGrant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if generation == g.lastGeneration && !g.unchecked && (g.nextExpiry.IsZero() || now.Before(g.nextExpiry)) {
		return nil
	}
	g.lastGeneration, g.nextExpiry, g.unchecked = generation, time.Time{}, false
	for _, a := range g.grants {
		if a.due(generation, now) {
			a.checking = true
			list = append(list, a)
		} else {
			g.checkBy(a.validUntil)
		}
	}
	return list
}

// unconfirmed are those that need a second look. They are busy from now on.
func (g *reauthorizer) unconfirmed() (list []*watchGrant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.unchecked {
		return nil
	}
	for _, a := range g.grants {
		if a.deniedOnce && !a.checking {
			a.checking = true
			list = append(list, a)
		}
	}
	return list
}

// checkBy makes the next look come no later than that.
func (g *reauthorizer) checkBy(at time.Time) {
	if !at.IsZero() && (g.nextExpiry.IsZero() || at.Before(g.nextExpiry)) {
		g.nextExpiry = at
	}
}

// apply notes what was found out about an access, and gives the watches that have to end.
func (g *reauthorizer) apply(a *watchGrant, v checkResult, generation uint64) []*watchStream {
	g.mu.Lock()
	defer g.mu.Unlock()
	a.checking = false
	a.checked, a.generation, a.validUntil = !v.unknown, generation, v.validUntil
	g.unchecked = g.unchecked || v.unknown || generation != g.lastGeneration
	g.checkBy(v.validUntil)
	switch {
	case v.refusal == nil:
		a.deniedOnce = a.deniedOnce && v.unknown
		return nil
	case v.forbidden && !a.deniedOnce:
		a.deniedOnce, a.checked, g.unchecked = true, false, true
		return nil
	}
	if g.grants[a.key] == a {
		delete(g.grants, a.key)
	}
	return slices.Collect(maps.Keys(a.watches))
}

// reauthorizeWatches ends watches until the context does.
func (s *Server) reauthorizeWatches(ctx context.Context) {
	slots := make(chan struct{}, maxConcurrentChecks)
	look := time.NewTicker(confirmPeriod)
	defer look.Stop()
	for second := false; ; second = !second {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		generation := s.authGeneration() // before anything is asked
		due := s.reauthorizer.unconfirmed()
		if !second {
			due = append(due, s.reauthorizer.due(generation, time.Now())...)
		}
		for _, a := range due {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				s.recheck(a, generation)
			}()
		}
	}
}

// authGeneration is that of all rights.
func (s *Server) authGeneration() uint64 {
	if s.opts.AuthGeneration == nil {
		return 0
	}
	return s.opts.AuthGeneration()
}

// recheck finds out whether an access is still good, and ends its watches if not.
func (s *Server) recheck(a *watchGrant, generation uint64) {
	v := s.evaluate(a)
	ended := s.reauthorizer.apply(a, v, generation)
	if len(ended) > 0 {
		s.log.Info("http: watches end, their user may no longer watch", "user", a.attributes.User.Name, "watches", len(ended), "reason", v.refusal.Message)
	}
	for _, st := range ended {
		st.revoke(v.refusal)
	}
}

// A verdict is what has become of an access.
type checkResult struct {
	refusal    *meta.Status // nil: it is good
	forbidden  bool         // what is refused is the right, not the credential
	validUntil time.Time    // when it is to be asked again; zero: not before something changes
	unknown    bool         // nobody could say; it is to be asked again soon
}

// evaluate asks what the watches of an access were asked when they began.
func (s *Server) evaluate(a *watchGrant) (v checkResult) {
	defer func() {
		if fault := recover(); fault != nil {
			s.log.Error("http: panic while looking after watches", "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
			v = checkResult{unknown: true}
		}
	}()
	r := a.credentials.newRequest()
	user, err := s.opts.Authenticator.Authenticate(r)
	switch {
	case errors.Is(err, authn.ErrUnavailable):
		return checkResult{unknown: true}
	case err != nil || user == nil:
		return checkResult{refusal: apierrors.Unauthorized()}
	}
	until := user.ValidUntil
	rights := &failureRecorder{Authorizer: s.opts.Authorizer}
	if a.credentials.impersonation {
		impersonator := s.impersonator
		impersonator.Authorizer = rights
		as, err := impersonator.Impersonate(user, r.Headers)
		var refusal *meta.Status
		switch {
		case rights.failed:
			return checkResult{unknown: true}
		case errors.As(err, &refusal):
			return checkResult{refusal: refusal, forbidden: true}
		case as != nil:
			user = as
		}
	}
	if user.Name != a.attributes.User.Name {
		return checkResult{refusal: apierrors.Unauthorized()} // the credential is somebody else's now
	}
	asked := a.attributes
	asked.User = user
	decision, reason := rights.Authorize(asked)
	switch {
	case rights.failed && decision != authz.Allow:
		return checkResult{unknown: true}
	case decision != authz.Allow:
		return checkResult{refusal: asked.Forbidden(reason), forbidden: true}
	}
	return checkResult{validUntil: until}
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

// newWatchGrant is the one by which the watch of a request may run.
func (s *Server) newWatchGrant(x *requestContext) *watchGrant {
	x.credentials.impersonation = x.headerFlags.Impersonation
	x.credentials.original.ConnCache = &authn.ConnCache{}
	return &watchGrant{
		credentials: x.credentials, attributes: s.attributes(x),
		key: x.credentials.digest(x.info.Group, x.info.Version, x.info.Resource, x.info.Namespace, x.info.Name,
			x.query.Get("fieldSelector"), x.query.Get("labelSelector")),
	}
}

// revoke ends the watch soon, with a Status that says why. What its client has not read by then
// is lost.
func (st *watchStream) revoke(refusal *meta.Status) {
	st.mu.Lock()
	st.refusal = refusal
	st.mu.Unlock()
	st.stop()
	time.AfterFunc(revokeGrace, st.forceClose)
}

// forceClose closes the connection of a watch that has not ended.
func (st *watchStream) forceClose() {
	select {
	case <-st.done:
	default:
		_ = st.conn.Close() // nobody reads, and nobody is left to tell
	}
}
