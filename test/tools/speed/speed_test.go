package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRows checks which rows of a report are compared, and which count as slower.
func TestRows(t *testing.T) {
	var r report
	if err := json.Unmarshal([]byte(`{"rows": [
		{"name": "get", "target": "", "cpuMicrosecondsPerOperation": 50, "ratioToAgainst": 1.2, "ratioToAgainstSpread": {"low": 1.04, "high": 1.4}},
		{"name": "get", "target": "against", "cpuMicrosecondsPerOperation": 42},
		{"name": "list-protobuf", "target": "", "cpuMicrosecondsPerOperation": 9, "ratioToAgainst": 1.2, "ratioToAgainstSpread": {"low": 1.02, "high": 1.4}},
		{"name": "empty", "target": ""},
		{"name": "exec to ready", "target": "", "figure": {"value": 70, "unit": "ms"}, "ratioToAgainst": 0.9}
	]}`), &r); err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{Name: "get protobuf 4", Value: 50, Unit: "µs", Ratio: 1.2, Low: 1.04, High: 1.4},
		{Name: "list protobuf 4", Value: 9, Unit: "µs", Ratio: 1.2, Low: 1.02, High: 1.4},
		{Name: "exec to ready protobuf 4", Value: 70, Unit: "ms", Ratio: 0.9, Low: 0.9, High: 0.9},
	}
	rows := group{clients: 4, protobuf: true}.rows(r)
	if !slices.Equal(rows, want) {
		t.Errorf("%+v, want %+v", rows, want)
	}
	if !rows[0].slower() || rows[1].slower() || rows[2].slower() {
		t.Error("not only the first row is slower")
	}
}

// TestGroupWithoutMatch checks that measure runs nothing if no row of the group matches.
func TestGroupWithoutMatch(t *testing.T) {
	rows, err := groups[0].measure(t.Context(), builds{}, regexp.MustCompile("^nothing$"), 1)
	if rows != nil || err != nil {
		t.Errorf("%v, %v", rows, err)
	}
}

// TestPlot checks that each workload has a panel with one line per variant. If a variant is missing
// from a measurement, its line has no point there.
func TestPlot(t *testing.T) {
	at := func(day int, commit string, rows ...Row) Measurement {
		return Measurement{Commit: commit, Date: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC), Rows: rows}
	}
	text := string(plot([]Measurement{
		at(1, "aaaa", Row{Name: "get 32", Ratio: 1}, Row{Name: "get protobuf 1", Ratio: 0.5}),
		at(2, "bbbb", Row{Name: "list 32", Ratio: 1}),
		at(3, "cccc", Row{Name: "get 32", Ratio: 9}),
	}))
	for _, part := range []string{">get</text>", ">list</text>", ">aaaa</text>", `points="30.0,66.0 270.0,30.0"`, `points="30.0,111.0"`, "<title>get protobuf 1</title>"} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is missing:\n%s", part, text)
		}
	}
}

// TestHistory checks that the recorded measurements can be read and are sorted by commit date.
func TestHistory(t *testing.T) {
	all, err := history("../../" + historyDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Commit == "" || m.Base == "" || m.Date.IsZero() || len(m.Rows) == 0 {
			t.Errorf("%+v is incomplete", m)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b Measurement) int { return a.Date.Compare(b.Date) }) {
		t.Error("not in the order of the commits")
	}
}
