package report

import (
	"cmp"
	"slices"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

// Spread is the lowest and the highest of what several runs measured. It is the range and not a deviation,
// because there are only a few runs.
type Spread struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// MedianOf makes one report of several of the same workloads: every row has the median of each of its
// values, the sum of its operations and errors, and the spread of what it is about. Where the server was
// doing something over time, the last run counts. A row that some runs lack is made of the others. Curves
// and time series cannot be averaged point by point.
func MedianOf(runs []*Report) *Report {
	if len(runs) == 1 {
		return runs[0]
	}
	last := runs[len(runs)-1]
	all := &Report{Origin: runs[0].Origin, Options: last.Options, Rows: []*Row{}, Growth: last.Growth, TimeSeries: last.TimeSeries, Notes: []string{}}
	rows := make(map[string][]*Row)
	var titles []string
	for _, run := range runs {
		for _, row := range run.Rows {
			title := row.Title()
			if rows[title] == nil {
				titles = append(titles, title)
			}
			rows[title] = append(rows[title], row)
		}
		for _, note := range run.Notes {
			all.Note("%s", note)
		}
	}
	for _, title := range titles {
		all.Rows = append(all.Rows, medianRow(rows[title]))
	}
	return all
}

// medianRow is made of the same row of several runs. Ratios are medians of ratios: the two servers of one run had the same conditions.
func medianRow(rows []*Row) *Row {
	m := &Row{Name: rows[0].Name, Target: rows[0].Target, Runs: len(rows)}
	for _, row := range rows {
		m.Operations += row.Operations
		m.Errors += row.Errors
		m.FirstError = cmp.Or(m.FirstError, row.FirstError)
	}
	of := func(value func(*Row) float64) float64 {
		middle, _ := median(rows, func(r *Row) *float64 { v := value(r); return &v })
		return *middle
	}
	m.Elapsed, m.Rate = of(func(r *Row) float64 { return r.Elapsed }), of(func(r *Row) float64 { return r.Rate })
	m.P50, m.P99 = of(func(r *Row) float64 { return r.P50 }), of(func(r *Row) float64 { return r.P99 })
	m.Bytes = int(of(func(r *Row) float64 { return float64(r.Bytes) }))
	m.CPU, m.Spread = median(rows, func(r *Row) *float64 { return r.CPU })
	m.Etcd, _ = median(rows, func(r *Row) *float64 { return r.Etcd })
	m.Resident, _ = median(rows, func(r *Row) *float64 { return r.Resident })
	m.ToFloor, _ = median(rows, func(r *Row) *float64 { return r.ToFloor })
	m.ToAgainst, _ = median(rows, func(r *Row) *float64 { return r.ToAgainst })
	if figure := rows[0].Figure; figure != nil {
		value, spread := median(rows, func(r *Row) *float64 {
			if r.Figure == nil {
				return nil
			}
			return &r.Figure.Value
		})
		m.Figure, m.Spread = &measure.Figure{Value: *value, Unit: figure.Unit}, spread
	}
	return m
}

// median is the middle one of the values that there are, of two the mean; nil if there is none. The mean of
// two is used for an even number of runs.
func median(rows []*Row, value func(*Row) *float64) (*float64, *Spread) {
	var values []float64
	for _, row := range rows {
		if v := value(row); v != nil {
			values = append(values, *v)
		}
	}
	n := len(values)
	if n == 0 {
		return nil, nil
	}
	slices.Sort(values)
	middle := (values[(n-1)/2] + values[n/2]) / 2
	return &middle, &Spread{values[0], values[n-1]}
}
