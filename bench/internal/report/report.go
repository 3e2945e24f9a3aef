package report

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

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/scenario"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// NameAgainst labels the rows of the second server.
const NameAgainst = "against"

// Row is one line of the report. Pointers are nil where nothing was measured. The names in JSON carry
// units, so that a program needs no documentation to read them; they do not change.
type Row struct {
	Name       string          `json:"name"`
	Target     string          `json:"target"` // "" is the server itself, else "against" or "floor"
	Operations int             `json:"operations"`
	Errors     int             `json:"errors"`
	FirstError string          `json:"firstError,omitempty"`
	Elapsed    float64         `json:"elapsedSeconds,omitempty"`
	Rate       float64         `json:"ratePerSecond,omitempty"`
	P50        float64         `json:"p50Microseconds,omitempty"`
	P99        float64         `json:"p99Microseconds,omitempty"`
	Bytes      int             `json:"bytesPerOperation,omitempty"`
	CPU        *float64        `json:"cpuMicrosecondsPerOperation,omitempty"`
	Etcd       *float64        `json:"etcdMicrosecondsPerOperation,omitempty"` // what of CPU an etcd has used
	Resident   *float64        `json:"residentMiB,omitempty"`
	Figure     *measure.Figure `json:"figure,omitempty"`
	// Of several runs: how many, and the spread of the figure or, without one, of the CPU time. All
	// other values are medians.
	Runs   int     `json:"runs,omitempty"`
	Spread *Spread `json:"spread,omitempty"`
	// Ratios of this row's CPU per operation (or figure) to that of the row of the same name:
	// above 1 the other one is cheaper.
	ToFloor   *float64 `json:"ratioToFloor,omitempty"`
	ToAgainst *float64 `json:"ratioToAgainst,omitempty"`
}

// Report is the outcome of a run. It is filled by one goroutine.
type Report struct {
	Origin     *Origin             `json:"origin,omitempty"`
	Options    *scenario.Options   `json:"options"`
	Rows       []*Row              `json:"rows"`
	Growth     []*measure.Curve    `json:"growth,omitempty"`
	TimeSeries *measure.TimeSeries `json:"course,omitempty"`
	Notes      []string            `json:"notes"`
}

// NewRow describes a result of a target. sample is nil for a result that is a figure alone. Durations
// become numbers of the units that the names of the fields say.
func NewRow(name, target string, sample *measure.Sample, figure *measure.Figure) *Row {
	row := &Row{Name: name, Target: target, Figure: figure}
	if sample == nil {
		return row
	}
	row.Operations, row.Errors, row.FirstError = sample.Operations, sample.Errors, sample.FirstError
	row.Elapsed, row.Rate = sample.Elapsed.Seconds(), sample.Rate()
	row.P50, row.P99 = measure.Microseconds(sample.Percentile(50)), measure.Microseconds(sample.Percentile(99))
	row.Bytes = sample.BytesPerOperation()
	if cpu := sample.CPUPerOperation(); !math.IsNaN(cpu) {
		row.CPU = &cpu
	}
	if etcd := sample.EtcdCPUPerOperation(); !math.IsNaN(etcd) {
		row.Etcd = &etcd
	}
	if sample.Measured {
		resident := measure.Mebibytes(sample.Resident)
		row.Resident = &resident
	}
	return row
}

// Add appends the rows of one result on all targets, with the ratios of the first. The rows
// must come together, since ratios are only taken within one call.
func (r *Report) Add(rows ...*Row) {
	r.Rows = append(r.Rows, rows...)
	for _, row := range rows {
		for _, other := range rows {
			switch {
			case other.Name != row.Name || row.Target == server.NameFloor:
			case other.Target == server.NameFloor:
				row.ToFloor = row.ratio(other)
			case other.Target == NameAgainst && row.Target == "":
				row.ToAgainst = row.ratio(other)
			}
		}
	}
}

// ratio compares figures where both have one, else CPU per operation; nil if it cannot be told. What is
// zero was too little to measure, and gives no ratio.
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

// Errors is the sum of all rows' errors. It decides on the exit code.
func (r *Report) Errors() int {
	sum := 0
	for _, row := range r.Rows {
		sum += row.Errors
	}
	return sum
}

// Grown reports whether quantities have grown in a soak that was long enough to tell. It makes the command
// fail, as nothing else finds a leak.
func (r *Report) Grown() bool {
	return r.Options.Duration >= scenario.SoakLimit && slices.ContainsFunc(r.Rows, func(row *Row) bool {
		return row.Name == "soak" && row.Figure.Value > 0
	})
}

// Note keeps a remark for the end of the report, once. Workloads repeat on each target and would say the
// same twice.
func (r *Report) Note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// WriteTable prints the rows for people. First errors stand below the table, because their texts have no
// bound. The columns for the second server and for an etcd only appear if there is one.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	against := r.Options.Compares()
	heads := []string{"workload", "rate/s", "p50", "p99", "CPU/op", "RSS MiB", "errors", "figure", "× floor"}
	if against {
		heads = append(heads, "× against")
	}
	etcd := slices.ContainsFunc(r.Rows, func(row *Row) bool { return row.Etcd != nil })
	if etcd {
		heads = append(heads, "of CPU etcd's")
	}
	_, _ = fmt.Fprintln(t, strings.Join(heads, "\t"))
	for _, row := range r.Rows {
		cells := row.cells()
		if against {
			cells = append(cells, times(row.ToAgainst))
		}
		if etcd {
			cells = append(cells, row.etcdCell())
		}
		_, _ = fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, row := range r.Rows {
		if row.FirstError != "" {
			_, _ = fmt.Fprintf(w, "first error of %s: %s\n", row.Title(), row.FirstError)
		}
	}
	for _, note := range r.Notes {
		_, _ = fmt.Fprintf(w, "note: %s\n", note)
	}
	return nil
}

// Title is the row's name, with the target behind it unless it is the server itself. It identifies a row
// within a report and between two of them.
func (row *Row) Title() string {
	if row.Target == "" {
		return row.Name
	}
	return fmt.Sprintf("%s (%s)", row.Name, row.Target)
}

const blank = "–"

// A row without latencies was measured by its figure alone.
func (row *Row) cells() []string {
	rate, p50, p99, figure := blank, blank, blank, blank
	if row.P50 > 0 {
		rate, p50, p99 = measure.Short(row.Rate), measure.Span(row.P50), measure.Span(row.P99)
	}
	if row.Figure != nil {
		figure = FigureCell(row.Figure) + row.spreadText(measure.Short)
	}
	cpu, resident := blank, blank
	if row.CPU != nil {
		cpu = measure.Span(*row.CPU)
		if row.Figure == nil {
			cpu += row.spreadText(measure.Span)
		}
	}
	if row.Resident != nil {
		resident = measure.Short(*row.Resident)
	}
	return []string{row.Title(), rate, p50, p99, cpu, resident, strconv.Itoa(row.Errors), figure, times(row.ToFloor)}
}

func (row *Row) etcdCell() string {
	if row.Etcd == nil {
		return blank
	}
	return measure.Span(*row.Etcd)
}

// spreadText is the spread of several runs, behind the median; empty for one run. The values are printed
// like the median.
func (row *Row) spreadText(print func(float64) string) string {
	if row.Spread == nil {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", print(row.Spread.Low), print(row.Spread.High))
}

// WriteJSON writes the report for programs. It is indented, so that two of them can be compared by diff.
func (r *Report) WriteJSON(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// ReadReport reads what writeJSON has written. A file of another tool has no options, which is how it is
// found out.
func ReadReport(path string) (*Report, error) {
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
	return measure.Short(*ratio)
}

// AddPoint adds a point to a series of a curve, and a row. What cost too little to tell has a row but no
// point. A curve with a point at zero could not be drawn on a logarithmic axis.
func (r *Report) AddPoint(curve measure.Curve, series, label string, size int, sample *measure.Sample) {
	name := curve.Name
	if series != "" {
		name += ", " + series
	}
	r.Add(NewRow(fmt.Sprintf("growth: %s, %s", name, measure.Plural(size, curve.Of)), label, sample, nil))
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
	line := r.curve(curve).Line(series)
	line.Points = append(line.Points, measure.Point{Size: size, CPU: cpu})
}

// curve finds the curve of that name, or adds it. Series of both targets are in one curve, as that is what
// is to be compared.
func (r *Report) curve(like measure.Curve) *measure.Curve {
	for _, c := range r.Growth {
		if c.Name == like.Name {
			return c
		}
	}
	r.Growth = append(r.Growth, &like)
	return &like
}
