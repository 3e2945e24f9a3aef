package measure

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// TimeSeries is how a server was doing while it was under load.
type TimeSeries struct {
	Name  string            `json:"name"`
	Warm  float64           `json:"warmSeconds"` // what came before says nothing
	Lines []*TimeSeriesLine `json:"lines"`
}

// TimeSeriesLine is one quantity over time.
type TimeSeriesLine struct {
	Name    string      `json:"name"`
	Unit    string      `json:"unit"`
	Moments []DataPoint `json:"moments"`
}

// DataPoint is one look at a quantity.
type DataPoint struct {
	Seconds float64 `json:"seconds"`
	Value   float64 `json:"value"`
}

// tolerance is how much larger a quantity may be at the end than it was in the beginning, in
// percent, before it is said to grow.
const tolerance = 5

// Add appends a look to the line of a name.
func (c *TimeSeries) Add(name, unit string, at time.Duration, value float64) {
	i := slices.IndexFunc(c.Lines, func(l *TimeSeriesLine) bool { return l.Name == name })
	if i < 0 {
		i, c.Lines = len(c.Lines), append(c.Lines, &TimeSeriesLine{Name: name, Unit: unit})
	}
	c.Lines[i].Moments = append(c.Lines[i].Moments, DataPoint{at.Seconds(), value})
}

// Trend is how much a line rose between two stretches of time, whatever it does within them.
type Trend struct {
	line        *TimeSeriesLine
	first, last float64 // means of the first and of the last third
	percent     float64 // the smaller one of how much its low and its high values rose
	hourly      float64 // slope of the straight line that fits all best
}

// Grows tells whether that is more than chance.
func (t Trend) Grows() bool { return t.percent > tolerance }

// String is the trend as a note of the report tells it.
func (t Trend) String() string {
	return fmt.Sprintf("%s %s → %s (%+.1f %%, %+.3g an hour)", t.line.Name, Short(t.first), t.line.Format(t.last), t.percent, t.hourly)
}

// Format is a value and its unit, if it has one.
func (l *TimeSeriesLine) Format(value float64) string {
	return strings.TrimSpace(Short(value) + " " + l.Unit)
}

// Trends compares, for every line, the first third of the time after the warm-up with the last.
// A quantity that goes up and down, as a journal does between two snapshots, has grown if both its
// troughs and its peaks are higher than they were.
func (c *TimeSeries) Trends() []Trend {
	var all []Trend
	for _, line := range c.Lines {
		warm := slices.DeleteFunc(slices.Clone(line.Moments), func(m DataPoint) bool { return m.Seconds < c.Warm })
		third := len(warm) / 3
		if third == 0 {
			continue
		}
		first, last := windowStatsOf(warm[:third]), windowStatsOf(warm[len(warm)-third:])
		all = append(all, Trend{
			line: line, first: first.mean, last: last.mean, hourly: 3600 * slope(warm),
			percent: min(growthPercent(first.low, last.low), growthPercent(first.high, last.high)),
		})
	}
	return all
}

// windowStats is what one quantity was like for a while: a tenth of the looks found it lower than low, and
// a tenth higher than high.
type windowStats struct{ low, mean, high float64 }

func windowStatsOf(moments []DataPoint) windowStats {
	var s windowStats
	values := make([]float64, 0, len(moments))
	for _, m := range moments {
		values = append(values, m.Value)
		s.mean += m.Value / float64(len(moments))
	}
	slices.Sort(values)
	n := len(values)
	s.low, s.high = values[n/10], values[n-1-n/10]
	return s
}

// growthPercent is in percent of the old value; from nothing to something it is 100.
func growthPercent(old, new float64) float64 {
	switch {
	case old == new:
		return 0
	case old == 0:
		return 100
	}
	return 100 * (new - old) / old
}

// slope is that of the least squares, per second.
func slope(moments []DataPoint) float64 {
	n := float64(len(moments))
	var x, y, xx, xy float64
	for _, m := range moments {
		x, y = x+m.Seconds/n, y+m.Value/n
	}
	for _, m := range moments {
		xx += (m.Seconds - x) * (m.Seconds - x)
		xy += (m.Seconds - x) * (m.Value - y)
	}
	if xx == 0 {
		return 0
	}
	return xy / xx
}
