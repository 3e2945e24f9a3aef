package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Row is the result of one workload.
type Row struct {
	Name  string  `json:"name"` // workload, media type and clients: "create protobuf 32"
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // of Value, such as µs of CPU per operation
	// Ratio, Low and High are the median, lowest and highest ratio to the base over all rounds.
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// tolerance is the highest ratio that does not count as slower.
const tolerance = 1.03

func (r Row) slower() bool { return r.Low > tolerance }

// A group is a set of workloads measured by one run of bench.
type group struct {
	workloads []string
	clients   int // 0: the default of the workload
	protobuf  bool
}

var requests = []string{"create", "get", "update", "merge-patch", "apply", "apply-pod", "delete", "list"}

var groups = []group{
	{append(requests, "watch-fanout"), 32, false},
	{append(requests, "watch-fanout"), 32, true},
	{requests, 4, false},
	{requests, 4, true},
	{requests, 1, false},
	{requests, 1, true},
	{[]string{"cold-start"}, 0, false},
}

func (g group) suffix() string {
	text := ""
	if g.protobuf {
		text = " protobuf"
	}
	if g.clients > 0 {
		text += " " + strconv.Itoa(g.clients)
	}
	return text
}

type report struct {
	Rows []struct {
		Name   string  `json:"name"`
		Target string  `json:"target"`
		CPU    float64 `json:"cpuMicrosecondsPerOperation"`
		Figure *struct {
			Value float64 `json:"value"`
			Unit  string  `json:"unit"`
		} `json:"figure"`
		Ratio  float64 `json:"ratioToAgainst"`
		Spread *struct {
			Low, High float64
		} `json:"ratioToAgainstSpread"`
	} `json:"rows"`
}

// measure runs the workloads of the group, filtered by row name.
func (g group) measure(ctx context.Context, b builds, only *regexp.Regexp, runs int) ([]Row, error) {
	var workloads []string
	for _, w := range g.workloads {
		if only.MatchString(w + g.suffix()) {
			workloads = append(workloads, w)
		}
	}
	if len(workloads) == 0 {
		return nil, nil
	}
	file := filepath.Join(filepath.Dir(b.bench), "report.json")
	args := []string{
		"--start", b.tree, "--against-start", b.base, "--naming=kubernetes", "--workloads", strings.Join(workloads, ","),
		"--runs", strconv.Itoa(runs), "--duration=2s", "--settle=100ms", "--floor=false", "--timeout=2h", "--json", file,
	}
	if g.clients > 0 {
		args = append(args, "--concurrency", strconv.Itoa(g.clients))
	}
	if g.protobuf {
		args = append(args, "--media-type=protobuf")
	}
	fmt.Fprintf(os.Stderr, "measuring %s%s\n", strings.Join(workloads, ", "), g.suffix())
	c := exec.CommandContext(ctx, b.bench, args...)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return g.rows(r), nil
}

// rows returns the rows of a report that contain a ratio of the two builds.
func (g group) rows(r report) []Row {
	var rows []Row
	for _, x := range r.Rows {
		if x.Target != "" || x.Ratio == 0 {
			continue
		}
		row := Row{Name: strings.Replace(x.Name, "-protobuf", "", 1) + g.suffix(), Value: x.CPU, Unit: "µs", Ratio: x.Ratio, Low: x.Ratio, High: x.Ratio}
		if x.Figure != nil {
			row.Value, row.Unit = x.Figure.Value, x.Figure.Unit
		}
		if x.Spread != nil {
			row.Low, row.High = x.Spread.Low, x.Spread.High
		}
		rows = append(rows, row)
	}
	return rows
}
