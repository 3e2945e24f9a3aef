package faultinjection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authz"
)

// An Effect is what happens to a request.
type Effect string

// All effects. doc.go describes them.
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

// effects declares the verbs of each effect, and whether it may follow a commit.
var effects = map[Effect]struct {
	verbs       []string
	afterCommit bool
}{
	Conflict: {writeVerbs, false}, TooManyRequests: {allVerbs, false},
	InternalError: {allVerbs, true}, ServiceUnavailable: {allVerbs, true}, Timeout: {allVerbs, true}, Drop: {allVerbs, true},
	EndWatch: {watchVerbs, false}, ExpireWatch: {watchVerbs, false}, Stale: {readVerbs, false}, Delay: {allVerbs, false},
}

// A Rule injects a fault into the requests that match all of its selectors. An empty selector
// matches everything that the effect applies to.
type Rule struct {
	Name   string `json:"name,omitempty"` // in metrics and responses; "" means the position, such as rule-1
	Effect Effect `json:"effect"`

	Verbs []string `json:"verbs,omitempty"`
	// Resources have the form RESOURCE[.GROUP][/SUBRESOURCE], such as pods, deployments.apps or
	// pods/status. RESOURCE and SUBRESOURCE may be "*". Without a subresource, only the object
	// itself matches.
	Resources  []string `json:"resources,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"`
	// Names are those in the path, which a create does not have.
	Names []string `json:"names,omitempty"`
	Users []string `json:"users,omitempty"`
	// UserAgent is a part of the User-Agent header.
	UserAgent string `json:"userAgent,omitempty"`

	// Probability is that of a fault for a selected request. 0 means always.
	Probability float64 `json:"probability,omitempty"`
	// Count is the maximum number of faults. 0 means no limit.
	Count int `json:"count,omitempty"`

	// AfterCommit performs the write before the fault. A write that fails gets its own error.
	AfterCommit bool `json:"afterCommit,omitempty"`
	// LatencyMilliseconds delays the request, in addition to the effect.
	LatencyMilliseconds int `json:"latencyMilliseconds,omitempty"`
	// RetryAfterSeconds is sent with TooManyRequests (by default 1) and ServiceUnavailable.
	RetryAfterSeconds int `json:"retryAfterSeconds,omitempty"`
	// Events is the number of events that a watch delivers before it is dropped, ends or expires.
	Events int `json:"events,omitempty"`
	// Versions is how many resource versions a stale read lags behind, by default 1.
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

// allowed returns the verbs to which the rule can apply.
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
