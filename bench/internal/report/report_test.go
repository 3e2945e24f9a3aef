package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/scenario"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// measured is a sample of n operations at a CPU cost each.
func measured(n int, cpu time.Duration) *measure.Sample {
	return &measure.Sample{Operations: n, Elapsed: time.Second, Latencies: []time.Duration{1000, 2000, 3000}, Measured: true,
		CPU: cpu * time.Duration(n), Resident: 10 << 20}
}

func newReport(t *testing.T, args ...string) *Report {
	t.Helper()
	o := &scenario.Options{}
	if err := o.Parse(args, io.Discard); err != nil {
		t.Fatal(err)
	}
	return &Report{Options: o}
}

func TestReportComparesRows(t *testing.T) {
	r := newReport(t, "--against=x")
	r.Add(
		NewRow("get", "", measured(10_000, 30*time.Microsecond), nil),
		NewRow("get", NameAgainst, measured(10_000, 300*time.Microsecond), nil),
		NewRow("get", server.NameFloor, measured(10_000, 10*time.Microsecond), nil),
	)
	r.Add(NewRow("idle", "", nil, &measure.Figure{Value: 20, Unit: "MiB resident"}), NewRow("idle", NameAgainst, nil, &measure.Figure{Value: 200, Unit: "MiB resident"}))
	get, against, idle := r.Rows[0], r.Rows[1], r.Rows[3]
	if *get.ToFloor != 3 || *get.ToAgainst != 0.1 || *against.ToFloor != 30 || *idle.ToAgainst != 0.1 {
		t.Errorf("ratios %v %v %v %v", *get.ToFloor, *get.ToAgainst, *against.ToFloor, *idle.ToAgainst)
	}
	var out bytes.Buffer
	if err := r.WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{
		"workload rate/s p50 p99 CPU/op RSS MiB errors figure × floor × against",
		"get 10000 2 µs 3 µs 30 µs 10 0 – 3 0.10",
		"get (against) 10000 2 µs 3 µs 300 µs 10 0 – 30 –",
		"get (floor) 10000 2 µs 3 µs 10 µs 10 0 – – –",
		"idle – – – – – 0 20 MiB resident – 0.10",
	} {
		if got := strings.Join(strings.Fields(lines[i]), " "); got != want {
			t.Errorf("line %d is %q, not %q", i, got, want)
		}
	}
}

func TestRowWithoutProcesses(t *testing.T) {
	r := newReport(t, "--kubeconfig=x")
	sample := measured(1, 1)
	sample.Measured = false
	r.Add(NewRow("get", "", sample, nil))
	if row := r.Rows[0]; row.CPU != nil || row.Resident != nil {
		t.Errorf("%+v", row)
	}
}

func TestNumbersAreShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.123: "0.12", -0.5: "-0.50", 2: "2", 9.996: "10.00", 12.34: "12.3", 30: "30", 123.4: "123", 6500: "6500"} {
		if got := measure.Short(v); got != want {
			t.Errorf("short(%v) = %q, not %q", v, got, want)
		}
	}
	for us, want := range map[float64]string{1.5: "1.50 µs", 9999: "9999 µs", 12_000: "12 ms", 2_500_000: "2.50 s"} {
		if got := measure.Span(us); got != want {
			t.Errorf("span(%v) = %q, not %q", us, got, want)
		}
	}
}

func TestGrowthKeepsLinesApart(t *testing.T) {
	r := newReport(t)
	curve := measure.Curve{Name: "rbac", Of: "binding"}
	r.AddPoint(curve, "certificate", "", 1, measured(10_000, time.Millisecond))
	r.AddPoint(curve, "certificate", "", 10, measured(10_000, 2*time.Millisecond))
	r.AddPoint(curve, "certificate", NameAgainst, 1, measured(10_000, 3*time.Millisecond))
	r.AddPoint(curve, "", NameAgainst, 1, measured(10_000, 3*time.Millisecond))
	r.AddPoint(curve, "", NameAgainst, 1, measured(1, 1))
	var names []string
	for _, s := range r.Growth[0].Series {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, ";"); got != "certificate;certificate, against;against" || len(r.Growth) != 1 {
		t.Errorf("lines %s", got)
	}
	if points := r.Growth[0].Series[0].Points; len(points) != 2 || points[1] != (measure.Point{Size: 10, CPU: 2000}) {
		t.Errorf("points %v", points)
	}
}
