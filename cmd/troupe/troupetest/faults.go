package troupetest

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/policy/faultinjection"
)

// A Fault is a rule that injects faults into requests. Package faultinjection describes the
// effects.
//
//	troupetest.Fault{Effect: "Conflict", Verbs: []string{"update"}, Resources: []string{"configmaps"}, Count: 1}
type Fault = faultinjection.Rule

// A FaultCount counts the requests that a Fault has selected, and those that failed because of it.
type FaultCount = faultinjection.Count

// WithFaults injects faults into requests, like Server.SetFaults, once Start has returned. Without
// rules, it only allows SetFaults. The seed is random, and the log of a failed test contains it.
func WithFaults(rules ...Fault) Option {
	return func(s *settings) { s.config.Serving.FaultInjection, s.faults = true, slices.Concat(s.faults, rules) }
}

// WithFaultSeed sets the seed of faults with a probability, to reproduce a failed test.
func WithFaultSeed(seed uint64) Option {
	return func(s *settings) { s.seed = seed }
}

// SetFaults replaces the faults of a server that was started with WithFaults, and resets its seed.
// Without rules, nothing fails. Faults apply to every client, including Load and the administrator,
// unless a rule names users or user agents. The server's own controllers are exempt.
func (s *Server) SetFaults(rules ...Fault) {
	s.t.Helper()
	faults := s.daemon.Faults()
	if faults == nil {
		s.t.Fatalf("troupetest: SetFaults: start the server with WithFaults")
	}
	if err := faults.Set(faultinjection.Config{Seed: s.settings.seed, Rules: rules}); err != nil {
		s.t.Fatalf("troupetest: SetFaults: %v", err)
	}
}

// FaultCounts returns the counts of all faults since SetFaults.
func (s *Server) FaultCounts() []FaultCount {
	s.t.Helper()
	faults := s.daemon.Faults()
	if faults == nil {
		s.t.Fatalf("troupetest: FaultCounts: start the server with WithFaults")
	}
	return faults.State().Counts
}

func logFaults(t testing.TB, faults *faultinjection.Injector) {
	if faults == nil {
		return
	}
	state := faults.State()
	t.Logf("faults of the server, repeatable with troupetest.WithFaultSeed(%d):", state.Seed)
	for _, c := range state.Counts {
		t.Logf("  %s: %d of %d requests failed", c.Rule, c.Injected, c.Matched)
	}
}
