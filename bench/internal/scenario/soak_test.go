package scenario

import (
	"github.com/troupe-api/troupe/bench/internal/benchtest"

	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// The soak on the real daemon, too short for a verdict.
func TestSoak(t *testing.T) {
	s := startTroupe(t)
	s.Duration, s.Scale = 2*time.Second, 0.2
	results, err := soak(t.Context(), s)
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
	var lines []string
	for _, line := range all.TimeSeries.Lines {
		lines = append(lines, line.Name)
		if line.Name == "heap in use after a collection" && line.Moments[0].Value <= 0 {
			t.Errorf("heap %v", line.Moments)
		}
	}
	if len(lines) != len(monitoredMetrics)+1 {
		t.Errorf("lines %s", strings.Join(lines, ", "))
	}
}

func TestSoakNeedsNoMetrics(t *testing.T) {
	_, kubeconfig := benchtest.Start(t)
	s := session(t, kubeconfig)
	s.Duration = 50 * time.Millisecond
	l := startSoakMonitor(s)
	if series := l.stop(); len(series.Lines) != 0 || len(series.Trends()) != 0 {
		t.Errorf("%+v", series)
	}
}

func TestPaced(t *testing.T) {
	step := paced(1_000, func(*server.Conn, int) (int, error) { return 7, nil })
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
