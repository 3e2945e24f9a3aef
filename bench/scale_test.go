package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/report"
)

// measuredScale is a saved report of the workloads that the model is made of and checked by.
const measuredScale = "testdata/scale.json"

// simulate runs the model on a report, and returns the page that it is written into.
func simulate(t *testing.T, saved string) (page, table, log string, code int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scale.md")
	if err := os.WriteFile(path, []byte("before\n<!-- bench: scale -->\nwas here\n<!-- end -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errors bytes.Buffer
	code = run([]string{"--simulate-scale", path, saved}, nil, &out, &errors)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), out.String(), errors.String(), code
}

// What the model predicts is near what was measured.
func TestScaleIsAsMeasured(t *testing.T) {
	page, table, log, code := simulate(t, measuredScale)
	if code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, log, table)
	}
	for _, want := range []string{"before\n<!-- bench: scale -->\nMeasured ", "| three daemons, one etcd | 10,000 |", "| one daemon, on its disk | 100,000,000 |", "| etcd, 32 clients, median |", "<!-- end -->\nafter\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Contains(page, "was here") || strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Errorf("what was there is there still, or a figure is none:\n%s", page)
	}
}

// A report that tells of something else than the model predicts is an error that names it, and so is one that lacks something.
func TestScaleFindsDeviations(t *testing.T) {
	for name, c := range map[string]struct {
		change func(row func(name string) *report.Row, r *report.Report)
		want   []string
	}{
		"measured otherwise": {func(row func(string) *report.Row, r *report.Report) {
			r.Add(report.NewRow("million, memory recovered", "", nil, &measure.Figure{Value: 20_000, Unit: "MiB resident"}))
			row("scale, etcd, 8 clients").P50 *= 4
			row("scale, disk, 8 clients").Rate /= 4
			row("scale, disk, 32 clients").P99 *= 20
			*row("scale, etcd, 32 clients").CPU *= 3
			row("scale, etcd, 32 clients").Figure.Value /= 5
			row("scale, disk, memory, 50,000 objects").Figure.Value *= 2
		}, []string{
			"etcd, 8 clients, median: predicted", "disk, 8 clients, rate: predicted", "disk, 32 clients, p99: predicted", "etcd, 32 clients, CPU: predicted",
			"etcd, 32 clients, shared: predicted", "disk, memory, 50,000 objects: predicted", "million, memory recovered: predicted",
		}},
		"not measured": {func(row func(string) *report.Row, r *report.Report) {
			row("scale, etcd, 1 client").CPU = nil
			row("scale, etcd, follower").Name = "x"
			r.Origin = nil
		}, []string{`the row "scale, etcd, 1 client" lacks`, `no row "scale, etcd, follower"`, "how many processors"}},
		"not to be checked": {func(row func(string) *report.Row, _ *report.Report) {
			row("scale, disk, 32 clients").Name = "x"
		}, []string{`no row "scale, disk, 32 clients"`}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := report.ReadReport(measuredScale)
			if err != nil {
				t.Fatal(err)
			}
			c.change(func(name string) *report.Row { return rowOf(t, r, name) }, r)
			saved := filepath.Join(t.TempDir(), "changed.json")
			if err := r.WriteJSON(saved); err != nil {
				t.Fatal(err)
			}
			page, table, log, code := simulate(t, saved)
			if code != 1 || !strings.Contains(page, "was here") {
				t.Errorf("exit code %d, and a page is written:\n%s", code, page)
			}
			for _, want := range c.want {
				if !strings.Contains(log, want) {
					t.Errorf("no %q in\n%s\n%s", want, log, table)
				}
			}
		})
	}
}

func rowOf(t *testing.T, r *report.Report, name string) *report.Row {
	t.Helper()
	for _, row := range r.Rows {
		if row.Name == name {
			return row
		}
	}
	text, _ := json.Marshal(r)
	t.Fatalf("no row %q in %s", name, text)
	return nil
}
