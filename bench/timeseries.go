package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// TimeSeries holds the measurements of a server over time.
type TimeSeries struct {
	Name  string            `json:"name"`
	Warm  float64           `json:"warmSeconds"` // warm-up time, which trends ignore
	Lines []*TimeSeriesLine `json:"lines"`
}

// TimeSeriesLine holds the values of one metric.
type TimeSeriesLine struct {
	Name    string      `json:"name"`
	Unit    string      `json:"unit"`
	Moments []DataPoint `json:"moments"`
}

type DataPoint struct {
	Seconds float64 `json:"seconds"`
	Value   float64 `json:"value"`
}

// tolerance is the largest rise, in percent, that counts as stable.
const tolerance = 5

func (c *TimeSeries) add(name, unit string, at time.Duration, value float64) {
	i := slices.IndexFunc(c.Lines, func(l *TimeSeriesLine) bool { return l.Name == name })
	if i < 0 {
		i, c.Lines = len(c.Lines), append(c.Lines, &TimeSeriesLine{Name: name, Unit: unit})
	}
	c.Lines[i].Moments = append(c.Lines[i].Moments, DataPoint{at.Seconds(), value})
}

// trend is the change of a metric between the first and the last third of a run.
type trend struct {
	line        *TimeSeriesLine
	first, last float64 // means of the first and the last third
	percent     float64 // the smaller rise of the low and the high values
	hourly      float64 // slope of the linear regression
}

func (t trend) grows() bool { return t.percent > tolerance }

func (t trend) String() string {
	last := strings.TrimSpace(short(t.last) + " " + t.line.Unit)
	return fmt.Sprintf("%s %s → %s (%+.1f %%, %+.3g an hour)", t.line.Name, short(t.first), last, t.percent, t.hourly)
}

// trends compares the first and the last third of each line after the warm-up. If a metric
// oscillates, such as the journal size between snapshots, it has grown only if both its troughs and
// its peaks are higher. The lowest and the highest tenth of each third are ignored as noise.
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

func growthPercent(old, new float64) float64 {
	switch {
	case old == new:
		return 0
	case old == 0:
		return 100
	}
	return 100 * (new - old) / old
}

// slope returns the slope of the linear regression in units per second.
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
