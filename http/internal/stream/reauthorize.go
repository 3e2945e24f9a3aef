package stream

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// A Grant is the right by which long-running requests run. Those that were let in by the same credentials, and ask
// for the same, share one.
type Grant struct {
	Key  authn.Digest // the same for equal grants
	User string       // for the log
	// Check asks again what was asked when the requests began.
	Check func() Verdict

	// The mutex of the registry guards the rest.
	running map[LongRunning]struct{}
	// checked: it was found to be good at that generation of all rights, and is so until then, if
	// until is set.
	checked    bool
	generation uint64
	validUntil time.Time
	checking   bool // it is being looked at
	// deniedOnce: the last look found no right. A second one has to find none either.
	deniedOnce bool
}

// A Verdict is what has become of a grant.
type Verdict struct {
	Refusal    *meta.Status // nil: it is good
	Forbidden  bool         // what is refused is the right, not the credential
	ValidUntil time.Time    // when it is to be asked again; zero: not before something changes
	Unknown    bool         // nothing could be found out; it is to be asked again soon
}

// due tells whether the grant may have ended.
func (g *Grant) due(generation uint64, now time.Time) bool {
	return !g.checking && (!g.checked || g.generation != generation || !g.validUntil.IsZero() && !now.Before(g.validUntil))
}

const (
	// confirmPeriod is the time until the second look, and half the time between two first looks.
	confirmPeriod = 200 * time.Millisecond
	// maxConcurrentChecks bounds how many grants are looked at at once: remotes may be slow to answer.
	maxConcurrentChecks = 256
	// revokeGrace is how long a client may take to read what was on its way when its watch ends.
	revokeGrace = time.Second
)

// Reauthorize ends requests whose users may no longer make them, until the context ends. A few times a second
// it looks whether any right may have changed, or any credential has ended; if so, it asks again what
// those were asked when they began, so that they end when a request as theirs would be refused.
// generation changes whenever an answer may have become another one for any other reason than time.
//
// Credentials that are refused end them at once. A right that is missing has to be missing at a second
// look, soon after: one binding may have taken the place of another, and be seen only after that one
// has gone.
func (r *Registry) Reauthorize(ctx context.Context, generation func() uint64) {
	slots := make(chan struct{}, maxConcurrentChecks)
	look := time.NewTicker(confirmPeriod)
	defer look.Stop()
	for confirmOnly := false; ; confirmOnly = !confirmOnly {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		now := generation() // before anything is asked
		due := r.unconfirmed()
		if !confirmOnly {
			due = append(due, r.due(now, time.Now())...)
		}
		for _, g := range due {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				r.recheck(g, now)
			}()
		}
	}
}

// due are those that may have ended. They are being looked at from now on.
func (r *Registry) due(generation uint64, now time.Time) (list []*Grant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if generation == r.lastGeneration && !r.unchecked && (r.nextExpiry.IsZero() || now.Before(r.nextExpiry)) {
		return nil
	}
	r.lastGeneration, r.nextExpiry, r.unchecked = generation, time.Time{}, false
	for _, g := range r.grants {
		if g.due(generation, now) {
			g.checking = true
			list = append(list, g)
		} else {
			r.checkBy(g.validUntil)
		}
	}
	return list
}

// unconfirmed are those that need a second look. They are being looked at from now on.
func (r *Registry) unconfirmed() (list []*Grant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.unchecked {
		return nil
	}
	for _, g := range r.grants {
		if g.deniedOnce && !g.checking {
			g.checking = true
			list = append(list, g)
		}
	}
	return list
}

// checkBy makes the next look come no later than that.
func (r *Registry) checkBy(at time.Time) {
	if !at.IsZero() && (r.nextExpiry.IsZero() || at.Before(r.nextExpiry)) {
		r.nextExpiry = at
	}
}

// recheck finds out whether a grant is still good, and ends its requests if not.
func (r *Registry) recheck(g *Grant, generation uint64) {
	v := r.check(g)
	ended := r.apply(g, v, generation)
	if len(ended) > 0 {
		r.log.Debug("long-running requests end, their user may no longer make them", "user", g.User, "requests", len(ended), "reason", v.Refusal.Message)
	}
	for _, w := range ended {
		w.Revoke(v.Refusal)
	}
}

// check asks, and takes a panic for no answer.
func (r *Registry) check(g *Grant) (v Verdict) {
	defer func() {
		if fault := recover(); fault != nil {
			r.log.Error("panic while looking after long-running requests", "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
			v = Verdict{Unknown: true}
		}
	}()
	return g.Check()
}

// apply notes what was found out about a grant, and gives the requests that have to end.
func (r *Registry) apply(g *Grant, v Verdict, generation uint64) []LongRunning {
	r.mu.Lock()
	defer r.mu.Unlock()
	g.checking = false
	g.checked, g.generation, g.validUntil = !v.Unknown, generation, v.ValidUntil
	r.unchecked = r.unchecked || v.Unknown || generation != r.lastGeneration
	r.checkBy(v.ValidUntil)
	switch {
	case v.Refusal == nil:
		g.deniedOnce = g.deniedOnce && v.Unknown
		return nil
	case v.Forbidden && !g.deniedOnce:
		g.deniedOnce, g.checked, r.unchecked = true, false, true
		return nil
	}
	if r.grants[g.Key] == g {
		delete(r.grants, g.Key)
	}
	return slices.Collect(maps.Keys(g.running))
}
