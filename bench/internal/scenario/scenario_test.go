package scenario

import (
	"github.com/troupe-api/troupe/bench/internal/benchtest"

	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// The scenarios that need more of a server than the fake has, on the real one.
func TestScenarios(t *testing.T) {
	s := startTroupe(t)
	for name, rows := range map[string][]string{
		"leases":   {"leases"},
		"pod-life": {"pod-life"},
		"overload": {"overload, before", "overload, burst", "overload, after"},
		"noisy":    {"noisy, none", "noisy"},
		"mixed":    {"mixed", "mixed, get", "mixed, list", "mixed, update", "mixed, patch", "mixed, replace", "mixed, events"},
		"cluster":  {"cluster", "cluster, create", "cluster, delete", "cluster, patch", "cluster, update"},
		"selector": {"selector, indexed field", "selector, other field", "selector, label"},
	} {
		t.Run(name, func(t *testing.T) {
			results, err := workload(t, name).Run(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				i := slices.IndexFunc(results, func(r Result) bool { return r.Name == row })
				if i < 0 {
					t.Errorf("no row %q", row)
					continue
				}
				if sample := results[i].Sample; sample != nil && (sample.Operations == 0 || sample.Errors > 0 || sample.Percentile(50) <= 0) {
					t.Errorf("%s: %d operations, %d errors, median %v; %s", row, sample.Operations, sample.Errors, sample.Percentile(50), sample.FirstError)
				}
			}
		})
	}
}

// Somebody who has no right is refused, so that the scenario cannot be allowed by accident.
func TestCallersNeedTheirBinding(t *testing.T) {
	s := startTroupe(t)
	f, err := s.prepare(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.roles()
	if err != nil {
		t.Fatal(err)
	}
	callers, err := r.callers()
	if err != nil || len(callers) != 3 {
		t.Fatalf("%d callers, %v", len(callers), err)
	}
	ask := func(want int) {
		for _, c := range callers {
			conn := c.target.Conn()
			if _, err := conn.Expect(want, http.MethodGet, f.path(0), "", nil); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			conn.Close()
		}
	}
	ask(http.StatusForbidden)
	if err := r.bindReader("allowed", certificateUser, server.StaticUser); err != nil {
		t.Fatal(err)
	}
	ask(http.StatusOK)
}

func TestCustomResourceCountsRefusals(t *testing.T) {
	fake, kubeconfig := benchtest.Start(t)
	s := session(t, kubeconfig)
	asked := 0
	fake.Other = func(r *http.Request) int {
		switch {
		case r.Method == http.MethodDelete:
			return http.StatusOK
		case strings.HasSuffix(r.URL.Path, "/customresourcedefinitions"):
			return http.StatusCreated
		}
		if asked++; asked%3 != 0 {
			return http.StatusNotFound
		}
		return http.StatusCreated
	}
	results, err := customResource(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	r := row(t, results, "custom-resource")
	if r.Figure.Value != 2*definitions || r.Sample.Operations != definitions || r.Sample.Errors != 0 {
		t.Errorf("figure %v, %d operations, %d errors, first %q", r.Figure, r.Sample.Operations, r.Sample.Errors, r.Sample.FirstError)
	}
}

func TestOverloadCountsRefusals(t *testing.T) {
	fake, kubeconfig := benchtest.Start(t)
	s := session(t, kubeconfig)
	var notes []string
	s.Note = func(format string, _ ...any) { notes = append(notes, format) }
	puts := 0
	fake.Fault = func(r *http.Request) int {
		if r.Method != http.MethodPut {
			return 0
		}
		if puts++; puts > s.Count && puts <= s.Count+2 {
			return http.StatusTooManyRequests
		}
		return 0
	}
	results, err := overload(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	burst := row(t, results, "overload, burst")
	if want := 200 / float64(2+burst.Sample.Operations); burst.Figure.Value != want || burst.Sample.Errors != 0 {
		t.Errorf("figure %v instead of %v, %d errors", burst.Figure.Value, want, burst.Sample.Errors)
	}
	if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "when to come again") }) {
		t.Errorf("a 429 without Retry-After was not noted: %q", notes)
	}
}

func TestSmallerIsNoted(t *testing.T) {
	var notes []string
	s := &Session{Note: func(format string, _ ...any) { notes = append(notes, format) }, Descriptors: 1000}
	s.Scale, s.Concurrency = 0.5, 10
	if n := s.scaledSize("x", 10); n != 5 || len(notes) != 1 {
		t.Errorf("%d, notes %q", n, notes)
	}
	if n := s.connections("x", 1000); n != 1000-spareDescriptors-10 || len(notes) != 2 {
		t.Errorf("%d, notes %q", n, notes)
	}
	if s.connections("x", 700); len(notes) != 2 {
		t.Errorf("notes %q", notes)
	}
}

func TestPausesAreThoseBetweenAnswers(t *testing.T) {
	p := &pauseMeter{}
	step := p.watch(func(*server.Conn, int) (int, error) { return 0, nil })
	_, _ = step(nil, 0)
	p.most.Store(0)
	p.last.Add(-int64(time.Hour))
	_, _ = step(nil, 1)
	if got := p.longest(); got < time.Hour || got > 2*time.Hour {
		t.Errorf("%v", got)
	}
	_, _ = p.watch(step)(nil, 0)
	if got := p.longest(); got > 2*time.Hour {
		t.Errorf("the time between two loads counts: %v", got)
	}
}
