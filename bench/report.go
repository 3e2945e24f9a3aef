package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

const nameAgainst = "against"

// Row is one row of the report. Unmeasured values are 0. JSON names contain the unit and are
// stable.
type Row struct {
	Name       string  `json:"name"`
	Target     string  `json:"target"` // "" for the server itself, else "against" or "floor"
	Operations int     `json:"operations"`
	Errors     int     `json:"errors"`
	FirstError string  `json:"firstError,omitempty"`
	Elapsed    float64 `json:"elapsedSeconds,omitempty"`
	Rate       float64 `json:"ratePerSecond,omitempty"`
	P50        float64 `json:"p50Microseconds,omitempty"`
	P99        float64 `json:"p99Microseconds,omitempty"`
	Bytes      float64 `json:"bytesPerOperation,omitempty"`
	CPU        float64 `json:"cpuMicrosecondsPerOperation,omitempty"`
	Etcd       float64 `json:"etcdMicrosecondsPerOperation,omitempty"` // part of CPU
	Resident   float64 `json:"residentMiB,omitempty"`
	Figure     *Figure `json:"figure,omitempty"`
	// ToFloor and ToAgainst compare this row with the same row of the other target. They are
	// ratios of the figure, or of the CPU time per operation if there is no figure. A ratio below
	// 1 means that this row is cheaper.
	ToFloor   float64 `json:"ratioToFloor,omitempty"`
	ToAgainst float64 `json:"ratioToAgainst,omitempty"`
	// After several runs, the values above are medians. Spread is the range of the figure, or of
	// the CPU time per operation if there is no figure.
	Runs          int     `json:"runs,omitempty"`
	Spread        *Spread `json:"spread,omitempty"`
	AgainstSpread *Spread `json:"ratioToAgainstSpread,omitempty"`
}

// Report is the result of a run. It is not safe for concurrent use.
type Report struct {
	Origin     *Origin     `json:"origin,omitempty"`
	Options    *Options    `json:"options"`
	Rows       []*Row      `json:"rows"`
	TimeSeries *TimeSeries `json:"course,omitempty"`
	Notes      []string    `json:"notes"`
}

func newRow(target string, result Result) *Row {
	row := &Row{Name: result.Name, Target: target, Figure: result.Figure}
	if sample := result.Sample; sample != nil {
		row.Operations, row.Errors, row.FirstError = sample.Operations, sample.Errors, sample.FirstError
		row.Elapsed, row.Rate, row.Bytes = sample.Elapsed.Seconds(), sample.rate(), float64(sample.bytesPerOperation())
		row.P50, row.P99 = microseconds(sample.percentile(50)), microseconds(sample.percentile(99))
		row.CPU, row.Etcd, row.Resident = sample.cpuPerOperation(), sample.etcdPerOperation(), mebibytes(sample.Resident)
	}
	return row
}

func (r *Report) add(rows ...*Row) {
	r.Rows = append(r.Rows, rows...)
	for _, row := range rows {
		for _, other := range rows {
			switch {
			case other.Name != row.Name || row.Target == nameFloor:
			case other.Target == nameFloor:
				row.ToFloor = row.ratio(other)
			case other.Target != "" && row.Target == "":
				row.ToAgainst = row.ratio(other)
			}
		}
	}
}

func (row *Row) ratio(other *Row) float64 {
	mine, theirs := row.CPU, other.CPU
	if row.Figure != nil && other.Figure != nil {
		mine, theirs = row.Figure.Value, other.Figure.Value
	}
	if mine <= 0 || theirs <= 0 {
		return 0
	}
	return mine / theirs
}

func (r *Report) errors() (sum int) {
	for _, row := range r.Rows {
		sum += row.Errors
	}
	return sum
}

func (r *Report) grown() bool {
	return r.Options.Duration >= soakLimit && slices.ContainsFunc(r.Rows, func(row *Row) bool {
		return row.Name == "soak" && row.Figure.Value > 0
	})
}

func (r *Report) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// column is a column of the table. An optional column is omitted if all its cells are blank.
type column struct {
	head     string
	optional bool
	cell     func(*Row) string
}

const blank = "–"

var columns = []column{
	{"workload", false, (*Row).title},
	{"rate/s", false, func(r *Row) string {
		if r.P50 == 0 {
			return blank // only the figure is meaningful
		}
		return short(r.Rate)
	}},
	{"p50", false, func(r *Row) string { return printed(r.P50, span, nil) }},
	{"p99", false, func(r *Row) string { return printed(r.P99, span, nil) }},
	{"CPU/op", false, func(r *Row) string {
		if r.Figure != nil {
			return printed(r.CPU, span, nil)
		}
		return printed(r.CPU, span, r.Spread)
	}},
	{"of CPU etcd's", true, func(r *Row) string { return printed(r.Etcd, span, nil) }},
	{"RSS MiB", false, func(r *Row) string { return printed(r.Resident, short, nil) }},
	{"errors", false, func(r *Row) string { return strconv.Itoa(r.Errors) }},
	{"figure", true, func(r *Row) string {
		if r.Figure == nil {
			return blank
		}
		return short(r.Figure.Value) + " " + r.Figure.Unit + r.Spread.text(short)
	}},
	{"× floor", true, func(r *Row) string { return printed(r.ToFloor, short, nil) }},
	{"× against", true, func(r *Row) string { return printed(r.ToAgainst, short, r.AgainstSpread) }},
}

func printed(value float64, print func(float64) string, spread *Spread) string {
	if value == 0 {
		return blank
	}
	return print(value) + spread.text(print)
}

// writeTable prints the rows. The first errors and the notes follow the table, because they may be
// long.
func (r *Report) writeTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	shown := slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return c.optional && !slices.ContainsFunc(r.Rows, func(row *Row) bool { return c.cell(row) != blank })
	})
	var line []string
	for _, c := range shown {
		line = append(line, c.head)
	}
	_, _ = fmt.Fprintln(t, strings.Join(line, "\t"))
	for _, row := range r.Rows {
		for i, c := range shown {
			line[i] = c.cell(row)
		}
		_, _ = fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, row := range r.Rows {
		if row.FirstError != "" {
			_, _ = fmt.Fprintf(w, "first error of %s: %s\n", row.title(), row.FirstError)
		}
	}
	for _, note := range r.Notes {
		_, _ = fmt.Fprintf(w, "note: %s\n", note)
	}
	return nil
}

func (row *Row) title() string {
	if row.Target == "" {
		return row.Name
	}
	return fmt.Sprintf("%s (%s)", row.Name, row.Target)
}

func (r *Report) writeJSON(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// readReport reads a saved report, which must contain options.
func readReport(path string) (*Report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Options == nil {
		return nil, fmt.Errorf("%s is not a report", path)
	}
	return r, nil
}

// compare returns the rows of two saved reports side by side, with the new report first. A ratio
// below 1 means that the new build is cheaper. Rows of only one report are noted, because a
// workload may have failed in the other.
func compare(old, new *Report) *Report {
	r := &Report{Options: new.Options}
	for _, o := range []struct {
		side   string
		report *Report
	}{{"old", old}, {"new", new}} {
		if origin := o.report.Origin; origin != nil {
			r.note("%s: %s, %s, %s: %s", o.side, origin.Commit, origin.Began.Format("2006-01-02 15:04"), origin.Machine, origin.Command)
		}
	}
	rowIn := func(report *Report, name string) *Row {
		i := slices.IndexFunc(report.Rows, func(row *Row) bool { return row.Name == name && row.Target == "" })
		if i < 0 {
			return nil
		}
		row := *report.Rows[i]
		row.ToFloor, row.ToAgainst, row.AgainstSpread = 0, 0, nil
		return &row
	}
	for _, row := range new.Rows {
		if row.Target != "" {
			continue
		}
		was := rowIn(old, row.Name)
		if was == nil {
			r.note("%s is in the new report only", row.Name)
			continue
		}
		was.Target = "old"
		r.add(rowIn(new, row.Name), was)
	}
	for _, row := range old.Rows {
		if row.Target == "" && rowIn(new, row.Name) == nil {
			r.note("%s is in the old report only", row.Name)
		}
	}
	return r
}

// Spread is the range of a value over several runs.
type Spread struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// text formats the spread. It returns "" for a single run.
func (s *Spread) text(print func(float64) string) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", print(s.Low), print(s.High))
}

// medianOf merges several runs of the same workloads. Rows contain the median of each value, but
// the sum of operations and errors. The time series is that of the last run.
func medianOf(runs []*Report) *Report {
	if len(runs) == 1 {
		return runs[0]
	}
	last := runs[len(runs)-1]
	all := &Report{Origin: runs[0].Origin, Options: last.Options, TimeSeries: last.TimeSeries, Notes: []string{}}
	rows := map[string][]*Row{}
	var titles []string
	for _, run := range runs {
		for _, row := range run.Rows {
			title := row.title()
			if rows[title] == nil {
				titles = append(titles, title)
			}
			rows[title] = append(rows[title], row)
		}
		for _, note := range run.Notes {
			all.note("%s", note)
		}
	}
	for _, title := range titles {
		all.Rows = append(all.Rows, medianRow(rows[title]))
	}
	return all
}

func (row *Row) values() []*float64 {
	return []*float64{&row.Elapsed, &row.Rate, &row.P50, &row.P99, &row.Bytes, &row.CPU, &row.Etcd, &row.Resident, &row.ToFloor, &row.ToAgainst}
}

// medianRow merges the same row of several runs. It uses the median of the ratios, because both
// servers of a run were measured under the same conditions.
func medianRow(rows []*Row) *Row {
	m := *rows[0]
	m.Runs = len(rows)
	for _, row := range rows[1:] {
		m.Operations += row.Operations
		m.Errors += row.Errors
		if m.FirstError == "" {
			m.FirstError = row.FirstError
		}
	}
	for i, value := range m.values() {
		var measured []float64
		for _, row := range rows {
			if v := *row.values()[i]; v != 0 {
				measured = append(measured, v)
			}
		}
		var spread *Spread
		*value, spread = median(measured)
		switch value {
		case &m.CPU:
			m.Spread = spread
		case &m.ToAgainst:
			m.AgainstSpread = spread
		}
	}
	if m.Figure != nil {
		var figures []float64
		for _, row := range rows {
			if row.Figure != nil {
				figures = append(figures, row.Figure.Value)
			}
		}
		m.Figure = &Figure{Unit: m.Figure.Unit}
		m.Figure.Value, m.Spread = median(figures)
	}
	return &m
}

func median(values []float64) (float64, *Spread) {
	n := len(values)
	if n == 0 {
		return 0, nil
	}
	slices.Sort(values)
	return (values[(n-1)/2] + values[n/2]) / 2, &Spread{values[0], values[n-1]}
}
