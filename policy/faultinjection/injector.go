package faultinjection

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/internal/metrics"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authz"
)

// A Config holds the rules of an Injector.
type Config struct {
	// Seed determines all random decisions.
	Seed  uint64 `json:"seed"`
	Rules []Rule `json:"rules"`
}

// A State is a Config with the counts of its rules.
type State struct {
	Config
	Counts []Count `json:"counts"` // one for each rule
}

// A Count is the number of requests that a rule has selected, and of faults that it has injected.
type Count struct {
	Rule     string `json:"rule"`
	Matched  int    `json:"matched"`
	Injected int    `json:"injected"`
}

// An Injector decides which requests fail. It is safe for concurrent use.
type Injector struct {
	injected *metrics.Counters

	mu     sync.Mutex // guards the fields below
	state  State
	random []*rand.Rand // one for each rule
}

// NewInjector returns an Injector without rules.
func NewInjector() *Injector {
	const maxSeries = 1000
	return &Injector{injected: metrics.NewCounters("troupe_injected_faults_total", "Faults injected on purpose.", "rule", "effect").Bound(maxSeries, "rule")}
}

// Set replaces all rules. The error reports the invalid fields.
func (i *Injector) Set(c Config) error {
	c.Rules = slices.Clone(c.Rules)
	next := State{Config: c}
	var random []*rand.Rand
	for at, r := range c.Rules {
		if err := r.validate(); err != nil {
			return fmt.Errorf("rules[%d].%w", at, err)
		}
		next.Counts = append(next.Counts, Count{Rule: cmp.Or(r.Name, fmt.Sprintf("rule-%d", at+1))})
		random = append(random, rand.New(rand.NewPCG(c.Seed, uint64(at))))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.state, i.random = next, random
	return nil
}

// SetYAML replaces all rules with a Config in YAML or JSON.
func (i *Injector) SetYAML(text []byte) error {
	var c Config
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return err
	}
	return i.Set(c)
}

// State returns the rules and their counts.
func (i *Injector) State() State {
	i.mu.Lock()
	defer i.mu.Unlock()
	return State{i.state.Config, append([]Count{}, i.state.Counts...)}
}

// A Request is an API request to which rules may apply.
type Request struct {
	*authz.Attributes
	UserAgent string
	// AcceptsStale reports whether a read may return an older state.
	AcceptsStale bool
}

// Choose returns the rule to apply to a request, or nil.
func (i *Injector) Choose(q *Request) *Rule {
	i.mu.Lock()
	defer i.mu.Unlock()
	for at, r := range i.state.Rules {
		if !r.matches(q) {
			continue
		}
		count := &i.state.Counts[at]
		count.Matched++
		if draw := i.random[at].Float64(); r.Probability > 0 && draw >= r.Probability || r.Count > 0 && count.Injected == r.Count {
			continue
		}
		count.Injected++
		i.injected.With(count.Rule, string(r.Effect)).Inc()
		r.Name = count.Rule
		return &r
	}
	return nil
}

// WriteMetrics writes the number of injected faults by rule and effect.
func (i *Injector) WriteMetrics(w io.Writer) { metrics.Write(w, i.injected) }

// Status returns the error response for a request, or nil if the effect is not an error response.
func (r *Rule) Status(a *authz.Attributes) *meta.Status {
	text := "injected fault " + r.Name
	switch r.Effect {
	case Conflict:
		return meta.NewConflict(meta.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, text)
	case TooManyRequests:
		return meta.NewTooManyRequests(text, max(r.RetryAfterSeconds, 1))
	case InternalError:
		return meta.NewInternalCause(text)
	case ServiceUnavailable:
		s := meta.NewServiceUnavailable(text)
		s.Details = &meta.Details{RetryAfterSeconds: r.RetryAfterSeconds}
		return s
	case Timeout:
		return meta.NewTimeout(text)
	case ExpireWatch:
		return meta.NewExpired(text)
	}
	return nil
}
