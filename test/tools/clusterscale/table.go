package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// A table records the duration and the CPU times of each phase.
type table struct {
	plane  *plane
	pods   int
	began  time.Time
	before map[string]time.Duration // CPU time of each part at the start of the phase
	rows   []phase
}

type phase struct {
	name string
	took time.Duration
	cpu  map[string]time.Duration
}

func newTable(p *plane, pods int) *table {
	t := &table{plane: p, pods: pods}
	t.begin()
	return t
}

func (t *table) begin() {
	t.began, t.before = time.Now(), map[string]time.Duration{}
	for _, p := range t.plane.parts {
		t.before[p.name] = cpuTime(p.Cmd.Process.Pid)
	}
}

// phase ends the current phase, names it, and begins the next one.
func (t *table) phase(name string) (took time.Duration) {
	took = time.Since(t.began)
	row := phase{name, took, map[string]time.Duration{}}
	for _, p := range t.plane.parts {
		row.cpu[p.name] = cpuTime(p.Cmd.Process.Pid) - t.before[p.name]
	}
	t.rows = append(t.rows, row)
	t.begin()
	return took
}

// print prints the CPU time of each component by phase, and the total per Pod.
func (t *table) print(w io.Writer) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(out, "\tTIME")
	for _, p := range t.plane.parts {
		fmt.Fprintf(out, "\tCPU OF %s", p.name)
	}
	all := phase{name: "all", cpu: map[string]time.Duration{}}
	for _, row := range t.rows {
		t.row(out, row)
		all.took += row.took
		for name, d := range row.cpu {
			all.cpu[name] += d
		}
	}
	t.row(out, all)
	fmt.Fprint(out, "\na Pod\t")
	for _, p := range t.plane.parts {
		fmt.Fprintf(out, "\t%.2f ms", 1000*all.cpu[p.name].Seconds()/float64(t.pods))
	}
	fmt.Fprintln(out)
	_ = out.Flush() // writes to standard output
}

func (t *table) row(w io.Writer, row phase) {
	fmt.Fprintf(w, "\n%s\t%.1f s", row.name, row.took.Seconds())
	for _, p := range t.plane.parts {
		fmt.Fprintf(w, "\t%.1f s", row.cpu[p.name].Seconds())
	}
}

// tick is the unit of CPU times in /proc/PID/stat, because USER_HZ is 100.
const tick = time.Second / 100

// cpuTime returns the CPU time of a process, or 0 if it is unknown.
func cpuTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the program's name may contain spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var all time.Duration
	for _, field := range fields[11:13] { // user and kernel mode
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		all += time.Duration(n) * tick
	}
	return all
}
