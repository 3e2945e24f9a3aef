package scenario

import (
	"github.com/troupe-api/troupe/bench/internal/benchtest"

	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// countedWorkloads are the workloads whose operations are requests, and what they must come to with the
// flags of session: operations, and the requests of the method that they send.
var countedWorkloads = []struct {
	name       string
	method     string
	operations int
	requests   int // of the method, preparation included
}{
	{"create", http.MethodPost, 24, 1 + 24},
	{"get", http.MethodGet, 24, 24},
	{"update", http.MethodPut, 24, 24},
	{"merge-patch", http.MethodPatch, 24, 24},
	{"apply", http.MethodPatch, 24, 24},
	{"delete", http.MethodDelete, 24, 24 + 2},
	{"list", http.MethodGet, 24, 24},
	{"list-chunked", http.MethodGet, 24, 3 * 24},
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
			fake, kubeconfig := benchtest.Start(t)
			results, err := workload(t, want.name).Run(t.Context(), session(t, kubeconfig))
			if err != nil {
				t.Fatal(err)
			}
			sample := row(t, results, want.name).Sample
			if sample.Operations != want.operations || sample.Errors != 0 || len(sample.Latencies) != want.operations {
				t.Errorf("%d operations, %d errors, %d latencies; first error %q", sample.Operations, sample.Errors, len(sample.Latencies), sample.FirstError)
			}
			if got := fake.Count(want.method); got != want.requests {
				t.Errorf("%d %s requests instead of %d", got, want.method, want.requests)
			}
			if !sample.Measured || sample.Resident == 0 || sample.Elapsed == 0 {
				t.Errorf("nothing measured: %+v", sample)
			}
			if fake.Namespaces() != 1 {
				t.Errorf("namespaces are left behind: %d", fake.Namespaces())
			}
		})
	}
}

// Every tenth request of the operation's method fails once the workload is prepared.
func TestWorkloadsCountErrors(t *testing.T) {
	for _, c := range countedWorkloads {
		t.Run(c.name, func(t *testing.T) {
			fake, kubeconfig := benchtest.Start(t)
			seen, failed := 0, 0
			fake.Fault = func(r *http.Request) int {
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
			results, err := workload(t, c.name).Run(t.Context(), session(t, kubeconfig))
			if err != nil {
				t.Fatal(err)
			}
			sample := row(t, results, c.name).Sample
			if failed == 0 || sample.Errors != failed || sample.Operations != c.operations-failed {
				t.Errorf("%d errors and %d operations after %d failures", sample.Errors, sample.Operations, failed)
			}
			if !strings.Contains(sample.FirstError, "status 500") {
				t.Errorf("first error %q", sample.FirstError)
			}
			if len(sample.Latencies) != sample.Operations {
				t.Errorf("%d latencies of %d operations", len(sample.Latencies), sample.Operations)
			}
		})
	}
}

func TestListsMustBeWhole(t *testing.T) {
	for _, name := range []string{"list", "list-chunked"} {
		_, kubeconfig := benchtest.Start(t)
		s := session(t, kubeconfig)
		w := workload(t, name)
		f, err := s.prepare(t.Context(), 7)
		if err != nil {
			t.Fatal(err)
		}
		s.Objects = 8 // one more than there are
		c := s.Target.Conn()
		defer c.Close()
		if _, err := f.listChunks(c); err == nil || !strings.Contains(err.Error(), "7 objects instead of 8") {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}

func TestPreparationFailureEndsWorkload(t *testing.T) {
	for _, w := range Workloads() {
		if w.Own || w.Name == "role-change" {
			continue // it prepares a server of its own, or there is no CA
		}
		fake, kubeconfig := benchtest.Start(t)
		fake.Fault = func(r *http.Request) int {
			if r.Method == http.MethodPost {
				return http.StatusForbidden
			}
			return 0
		}
		if _, err := w.Run(t.Context(), session(t, kubeconfig)); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}

func TestFanout(t *testing.T) {
	_, kubeconfig := benchtest.Start(t)
	s := session(t, kubeconfig)
	results, err := watchFanout(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"watch-fanout", "watch-fanout, bursts"} {
		sample := row(t, results, name).Sample
		if want := s.Count * s.Watchers; sample.Operations != want || sample.Errors != 0 || len(sample.Latencies) != want {
			t.Errorf("%s: %d deliveries instead of %d, %d errors, first %q", name, sample.Operations, want, sample.Errors, sample.FirstError)
		}
		if sample.Percentile(1) <= 0 {
			t.Errorf("%s: a delivery came before it was sent", name)
		}
	}
}

func TestFanoutReportsEndedWatches(t *testing.T) {
	fake, kubeconfig := benchtest.Start(t)
	s := session(t, kubeconfig)
	fake.Fault = func(r *http.Request) int {
		if r.URL.Query().Get("watch") == "true" && fake.LastVersion > s.hotCount()+3 {
			return http.StatusGone
		}
		return 0
	}
	results, err := watchFanout(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	sample := row(t, results, "watch-fanout").Sample
	if sample.Errors < 2 || sample.Errors > s.Watchers+1 || sample.Operations != 3*s.Watchers {
		t.Errorf("%d errors and %d deliveries, first error %q", sample.Errors, sample.Operations, sample.FirstError)
	}
}

func TestIdleWatchers(t *testing.T) {
	_, kubeconfig := benchtest.Start(t)
	s := session(t, kubeconfig)
	results, err := idleWatchers(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	watching := row(t, results, "idle-watchers")
	if watching.Sample.Operations != s.IdleWatchers || watching.Sample.Errors != 0 || watching.Figure == nil {
		t.Errorf("%+v", watching.Sample)
	}
	if idle := row(t, results, "idle"); idle.Figure.Value <= 0 {
		t.Errorf("idle memory is %v", idle.Figure)
	}
	s.Target.Processes = nil
	if results, err := idleWatchers(t.Context(), s); err != nil || len(results) != 0 {
		t.Errorf("without a process: %v, %v", results, err)
	}
}

func TestColdStart(t *testing.T) {
	_, kubeconfig := benchtest.Start(t)
	s := session(t, kubeconfig)
	results, err := coldStart(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for name, operations := range map[string]int{"cold start, empty": emptyStarts, "cold start, full": 1} {
		r := row(t, results, name)
		if r.Sample.Operations != operations || r.Sample.Errors != 0 || r.Figure.Value <= 0 {
			t.Errorf("%s: %+v, figure %v", name, r.Sample, r.Figure)
		}
	}
	for _, name := range []string{"memory, empty", "memory, full"} {
		if r := row(t, results, name); r.Figure.Value <= 0 {
			t.Errorf("%s: %v", name, r.Figure)
		}
	}
}

func TestFloorMovesAsManyBytes(t *testing.T) {
	floor, err := server.StartFloor(session(t, fakeConfig(t)).Request)
	if err != nil {
		t.Fatal(err)
	}
	defer floor.Stop()
	load := measure.Load{Concurrency: 2, Count: 10}
	x := requestShape{method: http.MethodPost, contentType: server.TypeJSON, body: []byte("{}"), requests: 3, bytes: 1234}
	sample, err := x.floor(load)(t.Context(), floor.Target)
	if err != nil || sample.Operations != 10 || sample.Errors != 0 || sample.BytesPerOperation() != 3*1234 {
		t.Errorf("%v: %+v", err, sample)
	}
	b := broadcast{watchers: 3, load: load}
	sample, err = floorBroadcast(b, 500)(context.Background(), floor.Target)
	if err != nil || sample.Operations != 3*10 || sample.Errors != 0 || sample.BytesPerOperation() != 500 {
		t.Errorf("%v: %+v", err, sample)
	}
}
