package main

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// countedWorkloads lists single-request workloads with the expected numbers of operations and
// requests for the flags of session. The requests include preparation and cleanup.
var countedWorkloads = []struct {
	name       string
	method     string
	operations int
	requests   int
}{
	{"create", http.MethodPost, 24, 1 + 24},
	{"get", http.MethodGet, 24, 24},
	{"update", http.MethodPut, 24, 24},
	{"merge-patch", http.MethodPatch, 24, 24},
	{"apply", http.MethodPatch, 24, 24},
	{"delete", http.MethodDelete, 24, 24 + 2},
	{"list", http.MethodGet, 24, 24},
	{"list-chunked", http.MethodGet, 24, 2 * 24},
	{"get-protobuf", http.MethodGet, 24, 24},
	{"list-protobuf", http.MethodGet, 24, 24},
	{"create-protobuf", http.MethodPost, 24, 1 + 24},
	{"update-protobuf", http.MethodPut, 24, 24},
	{"merge-patch-protobuf", http.MethodPatch, 24, 24},
	{"apply-protobuf", http.MethodPatch, 24, 24},
	{"delete-protobuf", http.MethodDelete, 24, 24 + 2},
	{"durable-create", http.MethodPost, 24, 1 + 24},
	{"hot-object", http.MethodPatch, 24, 24},
}

func TestWorkloadsCountOperations(t *testing.T) {
	for _, want := range countedWorkloads {
		t.Run(want.name, func(t *testing.T) {
			p := startProxy(t)
			results, err := workloadOf(want.name).Run(t.Context(), p.session(t))
			if err != nil {
				t.Fatal(err)
			}
			sample := row(t, results, want.name).Sample
			if sample.Operations != want.operations || sample.Errors != 0 || len(sample.Latencies) != want.operations {
				t.Errorf("%d operations, %d errors, %d latencies; first error %q", sample.Operations, sample.Errors, len(sample.Latencies), sample.FirstError)
			}
			if got := p.counts[want.method]; got != want.requests {
				t.Errorf("%d %s requests instead of %d", got, want.method, want.requests)
			}
			if sample.Resident == 0 || sample.Elapsed == 0 {
				t.Errorf("nothing measured: %+v", sample)
			}
		})
	}
}

// TestWorkloadsCountErrors checks that the workloads count operations and errors correctly. After
// the preparation, every tenth request with the workload's method fails.
func TestWorkloadsCountErrors(t *testing.T) {
	for _, c := range countedWorkloads {
		t.Run(c.name, func(t *testing.T) {
			p := startProxy(t)
			seen, failed := 0, 0
			p.fault = func(r *http.Request) int {
				prepares := strings.HasSuffix(r.URL.Path, "/namespaces")
				cleans := r.Method == http.MethodDelete && !strings.Contains(r.URL.Path, "item-")
				if r.Method != c.method || prepares || cleans {
					return 0
				}
				if seen++; seen%10 != 0 {
					return 0
				}
				failed++
				return http.StatusInternalServerError
			}
			results, err := workloadOf(c.name).Run(t.Context(), p.session(t))
			if err != nil {
				t.Fatal(err)
			}
			sample := row(t, results, c.name).Sample
			if failed == 0 || sample.Errors != failed || sample.Operations != c.operations-failed || len(sample.Latencies) != sample.Operations {
				t.Errorf("%d errors, %d operations and %d latencies after %d failures", sample.Errors, sample.Operations, len(sample.Latencies), failed)
			}
			if !strings.Contains(sample.FirstError, "status 500") {
				t.Errorf("first error %q", sample.FirstError)
			}
		})
	}
}

func TestListsMustBeWhole(t *testing.T) {
	s := startProxy(t).session(t)
	f, err := s.prepare(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	defer f.remove()
	s.Objects = 8 // one more than the existing objects
	c := s.Target.Conn()
	defer c.Close()
	for name, step := range map[string]Step{"list": step(f.list), "list-chunked": f.listChunks} {
		if _, err := step(c, 0); err == nil || !strings.Contains(err.Error(), "7 objects instead of 8") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPreparationFailureEndsWorkload(t *testing.T) {
	p := startProxy(t)
	p.fault = func(r *http.Request) int {
		if r.Method == http.MethodPost {
			return http.StatusForbidden
		}
		return 0
	}
	for _, w := range workloads() {
		if w.Own {
			continue
		}
		if _, err := w.Run(t.Context(), p.session(t)); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}

func TestFanout(t *testing.T) {
	s := startProxy(t).session(t)
	for _, workload := range []string{"watch-fanout", "watch-fanout-protobuf"} {
		results, err := workloadOf(workload).Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for name, events := range map[string]int{workload: s.Count, workload + ", bursts": burstEvents} {
			sample := row(t, results, name).Sample
			if want := events * s.Watchers; sample.Operations != want || sample.Errors != 0 || len(sample.Latencies) != want {
				t.Errorf("%s: %d deliveries instead of %d, %d latencies, %d errors, first %q", name, sample.Operations, want, len(sample.Latencies), sample.Errors, sample.FirstError)
			}
			if sample.percentile(1) <= 0 {
				t.Errorf("%s: a delivery came before it was sent", name)
			}
		}
	}
}

func TestEndedWatchesAreErrors(t *testing.T) {
	p := startProxy(t)
	f, err := p.session(t).prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.remove()
	pool, err := f.openWatchers(t.Context(), f.collection(), 3)
	if err != nil {
		t.Fatal(err)
	}
	p.server.CloseClientConnections()
	if err := pool.await(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "before a watch ended") {
		t.Errorf("error %v", err)
	}
	pool.group.Wait()
	if seen := pool.close(); seen.Errors != 3 || !strings.Contains(seen.FirstError, "the watch ended early") {
		t.Errorf("%+v", seen)
	}
}

func TestIdleWatchers(t *testing.T) {
	s := startProxy(t).session(t)
	run := workloadOf("idle-watchers").Run
	results, err := run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	watching := row(t, results, "idle-watchers")
	if watching.Sample.Operations != s.IdleWatchers || watching.Sample.Errors != 0 || watching.Figure == nil {
		t.Errorf("%+v", watching.Sample)
	}
	s.Target.Processes = nil
	if results, err := run(t.Context(), s); err != nil || len(results) != 0 {
		t.Errorf("without a process: %v, %v", results, err)
	}
}

func TestCustomResourceCountsRefusals(t *testing.T) {
	p := startProxy(t)
	asked := 0
	p.fault = func(r *http.Request) int {
		if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "bench.example.com/") {
			if asked++; asked%3 != 0 {
				return http.StatusNotFound
			}
		}
		return 0
	}
	results, err := workloadOf("custom-resource").Run(t.Context(), p.session(t))
	if err != nil {
		t.Fatal(err)
	}
	r := row(t, results, "custom-resource")
	if r.Figure.Value != 2*definitions || r.Sample.Operations != definitions || r.Sample.Errors != 0 {
		t.Errorf("figure %v, %d operations, %d errors, first %q", r.Figure, r.Sample.Operations, r.Sample.Errors, r.Sample.FirstError)
	}
}

func TestOverloadCountsRefusals(t *testing.T) {
	p := startProxy(t)
	s := p.session(t)
	var notes []string
	s.Note = func(format string, _ ...any) { notes = append(notes, format) }
	puts := 0
	p.fault = func(r *http.Request) int {
		if r.Method != http.MethodPut {
			return 0
		}
		if puts++; puts > s.Count && puts <= s.Count+2 {
			return http.StatusTooManyRequests
		}
		return 0
	}
	results, err := workloadOf("overload").Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	burst := row(t, results, "overload, burst")
	if want := 200 / float64(2+burst.Sample.Operations); burst.Figure.Value != want || burst.Sample.Errors != 0 || burst.Sample.Operations != overloadFactor*s.Count-2 {
		t.Errorf("figure %v instead of %v, %d operations, %d errors", burst.Figure.Value, want, burst.Sample.Operations, burst.Sample.Errors)
	}
	if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "no Retry-After") }) {
		t.Errorf("a 429 without Retry-After was not noted: %q", notes)
	}
}

func TestSoak(t *testing.T) {
	s := startProxy(t).session(t)
	s.Duration, s.Scale = 2*time.Second, 0.2
	results, err := workloadOf("soak").Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	all := row(t, results, "soak")
	if all.Sample.Errors > 0 || all.Sample.Operations < 200 || all.Figure == nil {
		t.Errorf("%d operations, %d errors, first %q", all.Sample.Operations, all.Sample.Errors, all.Sample.FirstError)
	}
	for _, name := range []string{"get", "list", "update", "patch", "apply", "replace", "watch", "watch to its end", "namespace", "account"} {
		if r := row(t, results, "soak, "+name); r.Sample.Operations == 0 {
			t.Errorf("no %s", name)
		}
	}
	if lines := all.TimeSeries.Lines; len(lines) != len(monitoredMetrics)+1 || lines[0].Moments[0].Value <= 0 {
		t.Errorf("%d lines, the first is %+v", len(lines), lines[0])
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
	step := p.watch(func(*Conn, int) (int, error) { return 0, nil })
	_, _ = step(nil, 0)
	p.longest.Store(0)
	p.last.Add(-int64(time.Hour))
	_, _ = step(nil, 1)
	if got := time.Duration(p.longest.Load()); got < time.Hour || got > 2*time.Hour {
		t.Errorf("%v", got)
	}
	_, _ = p.watch(step)(nil, 0)
	if got := time.Duration(p.longest.Load()); got > 2*time.Hour {
		t.Errorf("the time between two loads counts: %v", got)
	}
}

func TestFloorMovesAsManyBytes(t *testing.T) {
	floor, stop, err := startFloor()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	load := Load{Concurrency: 2, Count: 10}
	sample, err := floorOf(load, post("", "{}"), 3, 3*1234)(t.Context(), floor)
	if err != nil || sample.Operations != 10 || sample.Errors != 0 || sample.bytesPerOperation() != 3*1234 {
		t.Errorf("%v: %+v", err, sample)
	}
	sample, err = floorBroadcast(load, 3, 500)(t.Context(), floor)
	if err != nil || sample.Operations != 3*10 || sample.Errors != 0 || sample.bytesPerOperation() != 500 || len(sample.Latencies) != 30 {
		t.Errorf("%v: %+v", err, sample)
	}
}

func TestLoadBounds(t *testing.T) {
	for _, test := range []struct {
		load    Load
		n       int
		elapsed time.Duration
		want    bool
	}{
		{Load{}, 1 << 30, time.Hour, false},
		{Load{Count: 3}, 2, time.Hour, false},
		{Load{Count: 3}, 3, 0, true},
		{Load{Duration: time.Second}, 1 << 30, time.Second - 1, false},
		{Load{Duration: time.Second}, 0, time.Second, true},
	} {
		if got := test.load.done(test.n, test.elapsed); got != test.want {
			t.Errorf("%+v after %d in %v: %v", test.load, test.n, test.elapsed, got)
		}
	}
}

func TestFailingLoadEnds(t *testing.T) {
	s := startProxy(t).session(t)
	load := Load{Concurrency: 2}
	sample, err := load.drive(t.Context(), s.Target, func(*Conn, int) (int, error) { return 0, errors.New("gone") })
	if err != nil || sample.Errors != 2*maxConsecutiveErrors || sample.FirstError != "gone" {
		t.Errorf("%v: %+v", err, sample)
	}
	s.Target.Address = "127.0.0.1:1"
	if _, err := load.drive(t.Context(), s.Target, nil); err == nil {
		t.Error("no error without a server")
	}
}

func TestPaced(t *testing.T) {
	step := paced(1_000, func(*Conn, int) (int, error) { return 7, nil })
	begin := time.Now()
	for n := range 21 {
		if size, err := step(nil, n); size != 7 || err != nil {
			t.Fatal(size, err)
		}
	}
	if took := time.Since(begin); took < 20*time.Millisecond {
		t.Errorf("21 operations at 1,000 a second took %v", took)
	}
}
