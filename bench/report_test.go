package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func measured(name string, n int, cpu time.Duration) Result {
	return Result{Name: name, Sample: &Sample{Operations: n, Elapsed: time.Second, Latencies: []time.Duration{1000, 2000, 3000},
		CPU: cpu * time.Duration(n), Resident: 10 << 20}}
}

func memory(name string, value float64) Result { return Result{Name: name, Figure: resident(value)} }

func checkTable(t *testing.T, r *Report, want ...string) {
	t.Helper()
	var out bytes.Buffer
	if err := r.writeTable(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range want {
		if got := strings.Join(strings.Fields(lines[i]), " "); got != want {
			t.Errorf("line %d is %q, not %q", i, got, want)
		}
	}
}

func TestReportComparesRows(t *testing.T) {
	r := &Report{}
	r.add(newRow("", measured("get", 10_000, 30*time.Microsecond)), newRow(nameAgainst, measured("get", 10_000, 300*time.Microsecond)),
		newRow(nameFloor, measured("get", 10_000, 10*time.Microsecond)))
	r.add(newRow("", memory("idle", 20)), newRow(nameAgainst, memory("idle", 200)))
	checkTable(t, r,
		"workload rate/s p50 p99 CPU/op RSS MiB errors figure × floor × against",
		"get 10000 2 µs 3 µs 30 µs 10 0 – 3 0.10",
		"get (against) 10000 2 µs 3 µs 300 µs 10 0 – 30 –",
		"get (floor) 10000 2 µs 3 µs 10 µs 10 0 – – –",
		"idle – – – – – 0 20 MiB resident – 0.10")
}

func TestSavedReportsCompare(t *testing.T) {
	old, new := &Report{Origin: &Origin{Commit: "abc"}}, &Report{}
	old.add(newRow("", measured("get", 10_000, 20*time.Microsecond)), newRow(nameFloor, measured("get", 10_000, 10*time.Microsecond)))
	old.add(newRow("", memory("idle", 20)))
	new.add(newRow("", measured("get", 10_000, 30*time.Microsecond)), newRow(nameAgainst, measured("get", 10_000, 10*time.Microsecond)))
	new.add(newRow("", measured("list", 10_000, 20*time.Microsecond)))
	r := compare(old, new)
	checkTable(t, r,
		"workload rate/s p50 p99 CPU/op RSS MiB errors × against",
		"get 10000 2 µs 3 µs 30 µs 10 0 1.50",
		"get (old) 10000 2 µs 3 µs 20 µs 10 0 –")
	for i, want := range []string{"old: abc", "list is in the new report only", "idle is in the old report only"} {
		if !strings.HasPrefix(r.Notes[i], want) {
			t.Errorf("note %q, not %q", r.Notes[i], want)
		}
	}
}

func TestMedianOfRuns(t *testing.T) {
	var runs []*Report
	for n, cpu := range []time.Duration{30, 10, 20} {
		r := &Report{}
		r.add(newRow("", measured("get", 10_000, cpu*time.Microsecond)), newRow(nameFloor, measured("get", 10_000, 5*time.Microsecond)),
			newRow(nameAgainst, measured("get", 10_000, 10*time.Microsecond)))
		r.add(newRow("", memory("idle", float64(25+5*n))))
		r.Rows[0].Errors = n
		r.note("smaller")
		runs = append(runs, r)
	}
	m := medianOf(runs)
	get, idle := m.Rows[0], m.Rows[3]
	if get.CPU != 20 || *get.Spread != (Spread{10, 30}) || get.ToFloor != 4 || get.ToAgainst != 2 || *get.AgainstSpread != (Spread{1, 3}) ||
		get.Errors != 3 || get.Operations != 30_000 || get.Runs != 3 {
		t.Errorf("get: %+v", get)
	}
	if idle.Figure.Value != 30 || *idle.Spread != (Spread{25, 35}) || idle.CPU != 0 || runs[0].Rows[3].Figure.Value != 25 {
		t.Errorf("idle: %+v", idle)
	}
	if len(m.Notes) != 1 || len(m.Rows) != 4 {
		t.Errorf("%d rows, notes %v", len(m.Rows), m.Notes)
	}
	checkTable(t, m,
		"workload rate/s p50 p99 CPU/op RSS MiB errors figure × floor × against",
		"get 10000 2 µs 3 µs 20 µs (10 µs to 30 µs) 10 3 – 4 2 (1 to 3)")
	if medianOf(runs[:1]) != runs[0] {
		t.Error("one run is not its own median")
	}
	if two := medianOf(runs[:2]); two.Rows[0].CPU != 20 {
		t.Errorf("median of two: %v", two.Rows[0].CPU)
	}
}

func TestNumbersAreShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.123: "0.12", -0.5: "-0.50", 2: "2", 9.996: "10.00", 12.34: "12.3", 30: "30", 123.4: "123", 6500: "6500"} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %q, not %q", v, got, want)
		}
	}
	for us, want := range map[float64]string{1.5: "1.50 µs", 9999: "9999 µs", 12_000: "12 ms", 2_500_000: "2.50 s"} {
		if got := span(us); got != want {
			t.Errorf("span(%v) = %q, not %q", us, got, want)
		}
	}
}
