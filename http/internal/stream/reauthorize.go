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

// A Grant is the permission shared by long-running requests with the same credentials and
// attributes.
type Grant struct {
	Key  authn.Digest // equal for equal grants
	User string       // for the log
	// Check repeats the authentication and authorization of the requests.
	Check func() Verdict

	// The fields below are guarded by the registry's mutex.
	running map[LongRunning]struct{}
	// checked means that the grant was valid at generation. It must be rechecked at validUntil, if
	// set.
	checked    bool
	generation uint64
	validUntil time.Time
	checking   bool // a check is running
	// deniedOnce means that the last check denied authorization. A second denial ends the grant.
	deniedOnce bool
}

// A Verdict is the result of a check.
type Verdict struct {
	Refusal    *meta.Status // nil: valid
	Forbidden  bool         // authorization was denied, but the credential is valid
	ValidUntil time.Time    // when to check again; zero: after a change only
	Unknown    bool         // no result; check again soon
}

func (g *Grant) due(generation uint64, now time.Time) bool {
	return !g.checking && (!g.checked || g.generation != generation || !g.validUntil.IsZero() && !now.Before(g.validUntil))
}

const (
	// confirmPeriod is the time between two scans. Every scan rechecks denied grants. Every other
	// scan also checks grants whose regular check is due.
	confirmPeriod = 200 * time.Millisecond
	// maxConcurrentChecks is limited, because checks may call slow webhooks.
	maxConcurrentChecks = 256
	// revokeGrace is how long the client of a revoked watch may take to read pending data.
	revokeGrace = time.Second
)

// Reauthorize revokes requests that are no longer allowed, until ctx ends. A few times per second,
// it repeats the checks that a new generation or expired credentials affect. generation must change
// whenever anything except the passage of time may change a decision.
//
// Rejected credentials end requests immediately. A denied authorization needs a second check to
// confirm it, because a user may replace a binding by deleting and recreating it.
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
		now := generation() // before the checks
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

// due returns the grants whose check is due, and marks them as being checked.
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

// unconfirmed returns the grants that need a second check, and marks them as being checked.
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

func (r *Registry) checkBy(at time.Time) {
	if !at.IsZero() && (r.nextExpiry.IsZero() || at.Before(r.nextExpiry)) {
		r.nextExpiry = at
	}
}

func (r *Registry) recheck(g *Grant, generation uint64) {
	v := r.check(g)
	ended := r.apply(g, v, generation)
	if len(ended) > 0 {
		r.log.Debug("ending long-running requests that are no longer authorized", "user", g.User, "requests", len(ended), "reason", v.Refusal.Message)
	}
	for _, w := range ended {
		w.Revoke(v.Refusal)
	}
}

func (r *Registry) check(g *Grant) (v Verdict) {
	defer func() {
		if fault := recover(); fault != nil {
			r.log.Error("panic while rechecking long-running requests", "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
			v = Verdict{Unknown: true}
		}
	}()
	return g.Check()
}

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
