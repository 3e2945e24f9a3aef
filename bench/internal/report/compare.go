package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/scenario"
)

// Compare prints two saved reports side by side, row by row. Ratios are new to old: below 1 the new one is
// faster or smaller, except for the rate, where above 1 is faster. Rows are matched by title, so one that
// has another size in its name is not compared. Options that differ are printed below, as they may explain
// a difference.
func Compare(w io.Writer, old, new *Report) error {
	for _, side := range []struct {
		name string
		r    *Report
	}{{"old", old}, {"new", new}} {
		if o := side.r.Origin; o != nil {
			_, _ = fmt.Fprintf(w, "%s: %s, %s, %s\n     %s\n", side.name, o.Commit, o.Began.Format("2006-01-02 15:04"), o.Machine, o.Command)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "workload\tCPU/op old\tnew\t×\tp50 old\tnew\t×\tp99 ×\trate ×\tRSS ×\tfigure old\tnew\t×\terrors old\tnew")
	before := byTitle(old)
	for _, row := range new.Rows {
		if was := before[row.Title()]; was != nil {
			_, _ = fmt.Fprintln(t, strings.Join(was.comparedCells(row), "\t"))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range slices.Concat(missing("old", old, new), missing("new", new, old), differences(old.Options, new.Options)) {
		_, _ = fmt.Fprintln(w, "note: "+line)
	}
	return nil
}

// Of rows with one title the last counts, as with several runs of a workload.
func byTitle(r *Report) map[string]*Row {
	rows := make(map[string]*Row)
	for _, row := range r.Rows {
		rows[row.Title()] = row
	}
	return rows
}

// comparedCells are the cells of an old row and its new one. For latencies and the rate there is only the
// ratio where the table would become too wide.
func (was *Row) comparedCells(row *Row) []string {
	cells := []string{row.Title()}
	cells = append(cells, optional(was.CPU, measure.Span), optional(row.CPU, measure.Span), quotient(row.CPU, was.CPU))
	cells = append(cells, optional(positive(was.P50), measure.Span), optional(positive(row.P50), measure.Span), quotient(positive(row.P50), positive(was.P50)))
	cells = append(cells, quotient(positive(row.P99), positive(was.P99)), quotient(positive(row.Rate), positive(was.Rate)), quotient(row.Resident, was.Resident))
	cells = append(cells, FigureCell(was.Figure), FigureCell(row.Figure), quotient(positiveFigure(row.Figure), positiveFigure(was.Figure)))
	return append(cells, fmt.Sprint(was.Errors), fmt.Sprint(row.Errors))
}

// What was not measured is a dash, which differs from a zero.
func optional(v *float64, print func(float64) string) string {
	if v == nil {
		return blank
	}
	return print(*v)
}

// positive is nil for what is 0 because it was not measured.
func positive(v float64) *float64 {
	if v <= 0 {
		return nil
	}
	return &v
}

// positiveFigure is the value of a figure for a ratio, which zero has none of.
func positiveFigure(f *measure.Figure) *float64 {
	if f == nil {
		return nil
	}
	return positive(f.Value)
}

// FigureCell is a figure as a cell of a table. The unit stands in each cell, as rows differ in it.
func FigureCell(f *measure.Figure) string {
	if f == nil {
		return blank
	}
	return measure.Short(f.Value) + " " + f.Unit
}

// quotient is blank where either side is missing.
func quotient(a, b *float64) string {
	if a == nil || b == nil || *b == 0 {
		return blank
	}
	return measure.Short(*a / *b)
}

// missing are the rows that only one report has. A row that is gone may mean that a workload failed, which
// a comparison must not hide.
func missing(side string, r, other *Report) []string {
	var lines []string
	there := byTitle(other)
	for _, row := range r.Rows {
		if there[row.Title()] == nil {
			lines = append(lines, fmt.Sprintf("%s is in the %s report only", row.Title(), side))
		}
	}
	return lines
}

// differences are the options that make two reports less comparable. They are compared as JSON, so that an
// option which is added later takes part by itself.
func differences(old, new *scenario.Options) []string {
	was, is := optionFields(old), optionFields(new)
	var lines []string
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if was[key] != is[key] {
			lines = append(lines, fmt.Sprintf("the option %s was %s and is %s", key, cmp.Or(was[key], "not set"), cmp.Or(is[key], "not set")))
		}
	}
	return lines
}

// optionFields are the options as they stand in a report, but not which processes and folders. Workloads
// show as missing rows already.
func optionFields(o *scenario.Options) map[string]string {
	text, err := json.Marshal(o)
	raw := make(map[string]json.RawMessage)
	if err != nil || json.Unmarshal(text, &raw) != nil {
		return nil
	}
	fields := make(map[string]string)
	for key, value := range raw {
		if key != "workloads" && key != "pids" && key != "againstPids" && key != "tempDir" && key != "timeoutNanoseconds" {
			fields[key] = string(value)
		}
	}
	return fields
}
