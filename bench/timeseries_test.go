package main

import (
	"math"
	"testing"
	"time"
)

func timeSeriesOf(value func(second int) float64) *TimeSeries {
	c := &TimeSeries{Name: "soak", Warm: 10}
	for n := range 100 {
		c.add("things", "pieces", time.Duration(n)*time.Second, value(n))
	}
	return c
}

func TestTrends(t *testing.T) {
	saw := func(n int) float64 { return float64(100 + n%15) }
	for name, test := range map[string]struct {
		value  func(int) float64
		grows  bool
		hourly float64
	}{
		"level":             {func(int) float64 { return 50 }, false, 0},
		"nothing":           {func(int) float64 { return 0 }, false, 0},
		"from nothing":      {func(n int) float64 { return float64(n / 50) }, true, -1},
		"a leak":            {func(n int) float64 { return 100 + float64(n) }, true, 3600},
		"falls":             {func(n int) float64 { return 200 - float64(n) }, false, -3600},
		"up and down":       {saw, false, -1},
		"up, down and more": {func(n int) float64 { return saw(n) + float64(n)/2 }, true, -1},
		"higher peaks":      {func(n int) float64 { return 100 + float64(n%2*n) }, false, -1},
		"warm-up only":      {func(n int) float64 { return min(float64(10*n), 100) }, false, 0},
	} {
		all := timeSeriesOf(test.value).trends()
		if len(all) != 1 || all[0].grows() != test.grows {
			t.Errorf("%s: %v", name, all)
		}
		if test.hourly != -1 && math.Abs(all[0].hourly-test.hourly) > 1e-6 {
			t.Errorf("%s: %v an hour, not %v", name, all[0].hourly, test.hourly)
		}
	}
	if few := (&TimeSeries{Lines: []*TimeSeriesLine{{Moments: make([]DataPoint, 2)}}}).trends(); len(few) != 0 {
		t.Errorf("two looks make %v", few)
	}
}
