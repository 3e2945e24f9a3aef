package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

func TestMedianOfRuns(t *testing.T) {
	var runs []*Report
	for n, cpu := range []time.Duration{30, 10, 20} {
		r := newReport(t, "--start=x", "--runs=3")
		r.Add(NewRow("get", "", measured(10_000, cpu*time.Microsecond), nil), NewRow("get", server.NameFloor, measured(10_000, 5*time.Microsecond), nil))
		r.Add(NewRow("idle", "", nil, &measure.Figure{Value: float64(25 + 5*n), Unit: "MiB resident"}))
		r.Rows[0].Errors = n
		r.Note("smaller")
		runs = append(runs, r)
	}
	m := MedianOf(runs)
	get, idle := byTitle(m)["get"], byTitle(m)["idle"]
	if *get.CPU != 20 || *get.Spread != (Spread{10, 30}) || *get.ToFloor != 4 || get.Errors != 3 || get.Operations != 30_000 || get.Runs != 3 {
		t.Errorf("get: %+v", get)
	}
	if idle.Figure.Value != 30 || *idle.Spread != (Spread{25, 35}) || idle.CPU != nil {
		t.Errorf("idle: %+v", idle)
	}
	if len(m.Notes) != 1 || len(m.Rows) != 3 {
		t.Errorf("%d rows, notes %v", len(m.Rows), m.Notes)
	}
	var out bytes.Buffer
	if err := m.WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "20 µs (10 µs to 30 µs)") || !strings.Contains(out.String(), "30 MiB resident (25 to 35)") {
		t.Errorf("table:\n%s", &out)
	}
	if MedianOf(runs[:1]) != runs[0] {
		t.Error("one run is not its own median")
	}
	if two := MedianOf(runs[:2]); *byTitle(two)["get"].CPU != 20 {
		t.Errorf("median of two: %v", *byTitle(two)["get"].CPU)
	}
}
