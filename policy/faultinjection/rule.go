package faultinjection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authz"
)

// An Effect is the kind of fault that a rule injects.
type Effect string

// The effects, described in doc.go.
const (
	Conflict           Effect = "Conflict"           // 409
	TooManyRequests    Effect = "TooManyRequests"    // 429
	InternalError      Effect = "InternalError"      // 500
	ServiceUnavailable Effect = "ServiceUnavailable" // 503
	Timeout            Effect = "Timeout"            // 504
	Drop               Effect = "Drop"               // closes the connection
	EndWatch           Effect = "EndWatch"
	ExpireWatch        Effect = "ExpireWatch"
	Stale              Effect = "Stale"
	Delay              Effect = "Delay" // only the latency
)

var (
	readVerbs  = []string{"get", "list"}
	writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}
	watchVerbs = []string{"watch"}
	allVerbs   = slices.Concat(readVerbs, writeVerbs, watchVerbs)
)

// effects lists the verbs to which each effect applies, and whether it may follow a commit.
var effects = map[Effect]struct {
	verbs       []string
	afterCommit bool
}{
	Conflict: {writeVerbs, false}, TooManyRequests: {allVerbs, false},
	InternalError: {allVerbs, true}, ServiceUnavailable: {allVerbs, true}, Timeout: {allVerbs, true}, Drop: {allVerbs, true},
	EndWatch: {watchVerbs, false}, ExpireWatch: {watchVerbs, false}, Stale: {readVerbs, false}, Delay: {allVerbs, false},
}

// A Rule injects a fault into the requests that match all of its selectors. An empty selector
// matches all requests to which the effect applies.
type Rule struct {
	Name   string `json:"name,omitempty"` // in metrics and responses; "" means the position, such as rule-1
	Effect Effect `json:"effect"`

	Verbs []string `json:"verbs,omitempty"`
	// Resources have the form RESOURCE[.GROUP][/SUBRESOURCE], such as pods, deployments.apps or
	// pods/status. RESOURCE and SUBRESOURCE may be "*". Without a subresource, only the main
	// resource matches.
	Resources  []string `json:"resources,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"`
	// Names matches the object name in the request path. A create has none.
	Names []string `json:"names,omitempty"`
	Users []string `json:"users,omitempty"`
	// UserAgent matches any part of the User-Agent header.
	UserAgent string `json:"userAgent,omitempty"`

	// Probability is the probability of a fault for each selected request. 0 means always.
	Probability float64 `json:"probability,omitempty"`
	// Count is the maximum number of faults. 0 means no limit.
	Count int `json:"count,omitempty"`

	// AfterCommit performs the write before the fault. If the write fails, its own error is
	// returned.
	AfterCommit bool `json:"afterCommit,omitempty"`
	// LatencyMilliseconds delays the request in addition to the effect.
	LatencyMilliseconds int `json:"latencyMilliseconds,omitempty"`
	// RetryAfterSeconds is the Retry-After of TooManyRequests (by default 1) and
	// ServiceUnavailable.
	RetryAfterSeconds int `json:"retryAfterSeconds,omitempty"`
	// Events is the number of events that a watch delivers before the fault.
	Events int `json:"events,omitempty"`
	// Versions is the number of resource versions by which a stale read lags behind. The default is
	// 1.
	Versions int `json:"versions,omitempty"`
}

func (r *Rule) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	e, known := effects[r.Effect]
	check(known, "effect: %q must be one of %v", r.Effect, slices.Sorted(maps.Keys(effects)))
	for _, verb := range r.Verbs {
		check(!known || slices.Contains(r.allowed(), verb), "verbs: %q must be one of %v, to which %s applies", verb, r.allowed(), r.Effect)
	}
	check(!r.AfterCommit || e.afterCommit, "afterCommit: must be false with %s, after which nothing is written", r.Effect)
	check(r.Probability >= 0 && r.Probability <= 1, "probability: %v must be between 0 and 1", r.Probability)
	for _, field := range []struct {
		name  string
		value int
	}{{"count", r.Count}, {"latencyMilliseconds", r.LatencyMilliseconds}, {"retryAfterSeconds", r.RetryAfterSeconds}, {"events", r.Events}, {"versions", r.Versions}} {
		check(field.value >= 0, "%s: %d must not be negative", field.name, field.value)
	}
	return errors.Join(errs...)
}

func (r *Rule) allowed() []string {
	if r.AfterCommit {
		return writeVerbs
	}
	return effects[r.Effect].verbs
}

func (r *Rule) matches(q *Request) bool {
	a := q.Attributes
	return slices.Contains(r.allowed(), a.Verb) && (r.Effect != Stale || q.AcceptsStale) && selects(r.Verbs, a.Verb) &&
		(len(r.Resources) == 0 || slices.ContainsFunc(r.Resources, func(s string) bool { return matchesResource(s, a) })) &&
		selects(r.Namespaces, a.Namespace) && selects(r.Names, a.Name) && selects(r.Users, a.User.Name) && strings.Contains(q.UserAgent, r.UserAgent)
}

func selects(all []string, value string) bool { return len(all) == 0 || slices.Contains(all, value) }

func matchesResource(pattern string, a *authz.Attributes) bool {
	is := func(pattern, value string) bool { return pattern == "*" || pattern == value }
	pattern, subresource, _ := strings.Cut(pattern, "/")
	resource, group, hasGroup := strings.Cut(pattern, ".")
	return is(resource, a.Resource) && is(subresource, a.Subresource) && (!hasGroup || group == a.Group)
}
