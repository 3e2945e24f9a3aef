package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// nameAgainst labels the rows of the second server.
const nameAgainst = "against"

// Row is one line of the report. Pointers are nil where nothing was measured.
type Row struct {
	Name       string   `json:"name"`
	Target     string   `json:"target"` // "" is the server itself, else "against" or "floor"
	Operations int      `json:"operations"`
	Errors     int      `json:"errors"`
	FirstError string   `json:"firstError,omitempty"`
	Elapsed    float64  `json:"elapsedSeconds,omitempty"`
	Rate       float64  `json:"ratePerSecond,omitempty"`
	P50        float64  `json:"p50Microseconds,omitempty"`
	P99        float64  `json:"p99Microseconds,omitempty"`
	Bytes      int      `json:"bytesPerOperation,omitempty"`
	CPU        *float64 `json:"cpuMicrosecondsPerOperation,omitempty"`
	Resident   *float64 `json:"residentMiB,omitempty"`
	Figure     *Figure  `json:"figure,omitempty"`
	Aim        *Aim     `json:"aim,omitempty"`
	Met        *bool    `json:"met,omitempty"`
	// Of several runs: how many, and the spread of the figure or, without one, of the CPU time. All
	// other values are medians.
	Runs   int     `json:"runs,omitempty"`
	Spread *Spread `json:"spread,omitempty"`
	// Ratios of this row's CPU per operation (or figure) to that of the row of the same name:
	// above 1 the other one is cheaper.
	ToFloor   *float64 `json:"ratioToFloor,omitempty"`
	ToAgainst *float64 `json:"ratioToAgainst,omitempty"`
}

// Report is the outcome of a run.
type Report struct {
	Origin  *Origin     `json:"origin,omitempty"`
	Options *Options    `json:"options"`
	Rows    []*Row      `json:"rows"`
	Growth  []*Curve    `json:"growth,omitempty"`
	Course  *TimeSeries `json:"course,omitempty"`
	Notes   []string    `json:"notes"`
}

// newRow describes a result of a target.
func newRow(name, target string, sample *Sample, figure *Figure) *Row {
	row := &Row{Name: name, Target: target, Figure: figure}
	if sample == nil {
		return row
	}
	row.Operations, row.Errors, row.FirstError = sample.Operations, sample.Errors, sample.FirstError
	row.Elapsed, row.Rate = sample.Elapsed.Seconds(), sample.Rate()
	row.P50, row.P99 = microseconds(sample.Percentile(50)), microseconds(sample.Percentile(99))
	row.Bytes = sample.BytesPerOperation()
	if cpu := sample.CPUPerOperation(); !math.IsNaN(cpu) {
		row.CPU = &cpu
	}
	if sample.Measured {
		resident := mebibytes(sample.Resident)
		row.Resident = &resident
	}
	return row
}

// add appends the rows of one result on all targets, with the aim and the ratios of the first.
func (r *Report) add(rows ...*Row) {
	r.Rows = append(r.Rows, rows...)
	for _, row := range rows {
		if row.Target == "" {
			if row.Aim = aims(r.Options)[row.Name]; row.Aim != nil {
				row.Met = row.Aim.met(row)
			}
		}
		for _, other := range rows {
			switch {
			case other.Name != row.Name || row.Target == nameFloor:
			case other.Target == nameFloor:
				row.ToFloor = row.ratio(other)
			case other.Target == nameAgainst && row.Target == "":
				row.ToAgainst = row.ratio(other)
			}
		}
	}
}

// ratio compares figures where both have one, else CPU per operation; nil if it cannot be told.
func (row *Row) ratio(other *Row) *float64 {
	var mine, theirs float64
	switch {
	case row.Figure != nil && other.Figure != nil:
		mine, theirs = row.Figure.Value, other.Figure.Value
	case row.CPU != nil && other.CPU != nil:
		mine, theirs = *row.CPU, *other.CPU
	}
	if mine <= 0 || theirs <= 0 {
		return nil
	}
	ratio := mine / theirs
	return &ratio
}

// errors is the sum of all rows' errors.
func (r *Report) errors() int {
	sum := 0
	for _, row := range r.Rows {
		sum += row.Errors
	}
	return sum
}

// grown tells whether a soak has missed its aim.
func (r *Report) grown() bool {
	return slices.ContainsFunc(r.Rows, func(row *Row) bool { return row.Name == "soak" && row.Met != nil && !*row.Met })
}

// note keeps a remark for the end of the report, once.
func (r *Report) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// writeTable prints the rows for people.
func (r *Report) writeTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	against := r.Options.Against != "" || r.Options.AgainstStart != ""
	heads := []string{"workload", "rate/s", "p50", "p99", "CPU/op", "RSS MiB", "errors", "figure", "aim", "met", "× floor"}
	if against {
		heads = append(heads, "× against")
	}
	_, _ = fmt.Fprintln(t, strings.Join(heads, "\t"))
	for _, row := range r.Rows {
		cells := row.cells()
		if against {
			cells = append(cells, times(row.ToAgainst))
		}
		_, _ = fmt.Fprintln(t, strings.Join(cells, "\t"))
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

// title is the row's name, with the target behind it unless it is the server itself.
func (row *Row) title() string {
	if row.Target == "" {
		return row.Name
	}
	return fmt.Sprintf("%s (%s)", row.Name, row.Target)
}

const blank = "–"

func (row *Row) cells() []string {
	rate, p50, p99, aim, met, figure := blank, blank, blank, blank, blank, blank
	if row.P50 > 0 {
		rate, p50, p99 = short(row.Rate), span(row.P50), span(row.P99)
	}
	if row.Figure != nil {
		figure = figureCell(row.Figure) + row.spreadText(short)
	}
	if row.Aim != nil {
		aim = row.Aim.String()
	}
	if row.Met != nil {
		met = map[bool]string{true: "yes", false: "no"}[*row.Met]
	}
	cpu, resident := blank, blank
	if row.CPU != nil {
		cpu = span(*row.CPU)
		if row.Figure == nil {
			cpu += row.spreadText(span)
		}
	}
	if row.Resident != nil {
		resident = short(*row.Resident)
	}
	return []string{row.title(), rate, p50, p99, cpu, resident, strconv.Itoa(row.Errors), figure, aim, met, times(row.ToFloor)}
}

// spreadText is the spread of several runs, behind the median; empty for one run.
func (row *Row) spreadText(print func(float64) string) string {
	if row.Spread == nil {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", print(row.Spread.Low), print(row.Spread.High))
}

// writeJSON writes the report for programs.
func (r *Report) writeJSON(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// readReport reads what writeJSON has written.
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

func times(ratio *float64) string {
	if ratio == nil {
		return blank
	}
	return short(*ratio)
}

// addPoint adds a point to a series of a curve, and a row. What cost too little to tell has a row but
// no point.
func (r *Report) addPoint(curve Curve, series, label string, size int, sample *Sample) {
	name := curve.Name
	if series != "" {
		name += ", " + series
	}
	r.add(newRow(fmt.Sprintf("growth: %s, %s", name, plural(size, curve.Of)), label, sample, nil))
	cpu := sample.CPUPerOperation()
	if math.IsNaN(cpu) {
		return
	}
	if label != "" {
		series = label
		if name != curve.Name {
			series = name[len(curve.Name)+2:] + ", " + label
		}
	}
	line := r.curve(curve).series(series)
	line.Points = append(line.Points, Point{size, cpu})
}

// curve finds the curve of that name, or adds it.
func (r *Report) curve(like Curve) *Curve {
	for _, c := range r.Growth {
		if c.Name == like.Name {
			return c
		}
	}
	r.Growth = append(r.Growth, &like)
	return &like
}
