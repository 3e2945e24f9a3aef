package faultinjection

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

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

// A State is a Config, and what became of its rules.
type State struct {
	Config
	Counts []Count `json:"counts"` // one for each rule
}

// A Count counts the requests that a rule has selected, and those that it let fail.
type Count struct {
	Rule     string `json:"rule"`
	Matched  int    `json:"matched"`
	Injected int    `json:"injected"`
}

// An Injector decides which requests fail. It is safe for concurrent use.
type Injector struct {
	injected *metrics.Counters

	mu     sync.Mutex // guards the fields below
	config Config
	rules  []*activeRule
}

type activeRule struct {
	Rule
	random *rand.Rand
	count  Count
}

// maxSeries limits the series of the metric.
const maxSeries = 1000

// NewInjector returns an Injector without rules.
func NewInjector() *Injector {
	return &Injector{injected: metrics.NewCounters("troupe_injected_faults_total", "Faults injected on purpose.", "rule", "effect").Bound(maxSeries, "rule")}
}

// Set replaces all rules. The error names the invalid fields.
func (i *Injector) Set(c Config) error {
	rules := make([]*activeRule, len(c.Rules))
	for at, r := range c.Rules {
		if err := r.validate(); err != nil {
			return fmt.Errorf("rules[%d].%w", at, err)
		}
		if r.Name == "" {
			r.Name = fmt.Sprintf("rule-%d", at+1)
		}
		rules[at] = &activeRule{r, rand.New(rand.NewPCG(c.Seed, uint64(at))), Count{Rule: r.Name}}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.config, i.rules = c, rules
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
	s := State{Config: i.config, Counts: []Count{}}
	for _, r := range i.rules {
		s.Counts = append(s.Counts, r.count)
	}
	return s
}

// A Request is what rules select.
type Request struct {
	*authz.Attributes
	UserAgent string
	// AcceptsStale reports whether a read may be answered from an older state.
	AcceptsStale bool
}

// Choose returns the fault of a request, or nil.
func (i *Injector) Choose(q *Request) *Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, r := range i.rules {
		if !r.matches(q) {
			continue
		}
		r.count.Matched++
		if draw := r.random.Float64(); r.Probability > 0 && draw >= r.Probability || r.Count > 0 && r.count.Injected == r.Count {
			continue
		}
		r.count.Injected++
		i.injected.With(r.Name, string(r.Effect)).Inc()
		return &Fault{r.Rule}
	}
	return nil
}

// WriteMetrics writes the number of faults by rule and effect.
func (i *Injector) WriteMetrics(w io.Writer) { metrics.Write(w, i.injected) }

// A Fault is a fault to inject into one request.
type Fault struct{ Rule }

// Wait waits for the latency of the fault, or until ctx is done.
func (f *Fault) Wait(ctx context.Context) error {
	if f.LatencyMilliseconds == 0 {
		return nil
	}
	t := time.NewTimer(time.Duration(f.LatencyMilliseconds) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Status returns the error response to a request, or nil if the effect is not an error response.
func (f *Fault) Status(a *authz.Attributes) *meta.Status {
	text := "injected fault " + f.Name
	switch f.Effect {
	case Conflict:
		return meta.NewConflict(meta.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, text)
	case TooManyRequests:
		return meta.NewTooManyRequests(text, max(f.RetryAfterSeconds, 1))
	case InternalError:
		return meta.NewInternalCause(text)
	case ServiceUnavailable:
		s := meta.NewServiceUnavailable(text)
		s.Details = &meta.Details{RetryAfterSeconds: f.RetryAfterSeconds}
		return s
	case Timeout:
		return meta.NewTimeout(text)
	case ExpireWatch:
		return meta.NewExpired(text)
	}
	return nil
}
