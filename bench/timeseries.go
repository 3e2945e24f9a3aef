package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// TimeSeries is how a server was doing while it was under load.
type TimeSeries struct {
	Name  string            `json:"name"`
	Warm  float64           `json:"warmSeconds"` // the warm-up, which trends leave out
	Lines []*TimeSeriesLine `json:"lines"`
}

// TimeSeriesLine is one quantity over time.
type TimeSeriesLine struct {
	Name    string      `json:"name"`
	Unit    string      `json:"unit"`
	Moments []DataPoint `json:"moments"`
}

// DataPoint is one value of a quantity.
type DataPoint struct {
	Seconds float64 `json:"seconds"`
	Value   float64 `json:"value"`
}

// tolerance is how much a quantity may rise, in percent, before it counts as growth.
const tolerance = 5

// add appends a value to the line of a name.
func (c *TimeSeries) add(name, unit string, at time.Duration, value float64) {
	i := slices.IndexFunc(c.Lines, func(l *TimeSeriesLine) bool { return l.Name == name })
	if i < 0 {
		i, c.Lines = len(c.Lines), append(c.Lines, &TimeSeriesLine{Name: name, Unit: unit})
	}
	c.Lines[i].Moments = append(c.Lines[i].Moments, DataPoint{at.Seconds(), value})
}

// trend is how much a line rose between two stretches of time, whatever it does within them.
type trend struct {
	line        *TimeSeriesLine
	first, last float64 // means of the first and of the last third
	percent     float64 // the smaller one of how much its low and its high values rose
	hourly      float64 // slope of the straight line that fits all best
}

// grows reports whether the rise is more than chance.
func (t trend) grows() bool { return t.percent > tolerance }

// String is the trend as a note of the report.
func (t trend) String() string {
	last := strings.TrimSpace(short(t.last) + " " + t.line.Unit)
	return fmt.Sprintf("%s %s → %s (%+.1f %%, %+.3g an hour)", t.line.Name, short(t.first), last, t.percent, t.hourly)
}

// trends compares, for every line, the first third of the time after the warm-up with the last. A
// quantity that goes up and down, as a journal does between two snapshots, has grown if both its
// troughs and its peaks are higher than before: of each third, the lowest and the highest tenth are
// left out as chance.
func (c *TimeSeries) trends() (all []trend) {
	for _, line := range c.Lines {
		warm := slices.DeleteFunc(slices.Clone(line.Moments), func(m DataPoint) bool { return m.Seconds < c.Warm })
		third := len(warm) / 3
		if third == 0 {
			continue
		}
		firstLow, first, firstHigh := window(warm[:third])
		lastLow, last, lastHigh := window(warm[len(warm)-third:])
		all = append(all, trend{
			line: line, first: first, last: last, hourly: 3600 * slope(warm),
			percent: min(growthPercent(firstLow, lastLow), growthPercent(firstHigh, lastHigh)),
		})
	}
	return all
}

// window returns the mean of some values, and those that a tenth of them is below and above.
func window(moments []DataPoint) (low, mean, high float64) {
	values := make([]float64, 0, len(moments))
	for _, m := range moments {
		values = append(values, m.Value)
		mean += m.Value / float64(len(moments))
	}
	slices.Sort(values)
	n := len(values)
	return values[n/10], mean, values[n-1-n/10]
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
