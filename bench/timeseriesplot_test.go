package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"
)

func TestTimeSeriesPlotIsXML(t *testing.T) {
	c := &TimeSeries{Name: "soak", Warm: 10}
	for n := range 100 {
		c.add("things", "pieces", time.Duration(n)*time.Second, float64(n))
	}
	c.add("a < b", "MiB", time.Second, 1)
	for _, plot := range [][]byte{plotTimeSeries(c), plotTimeSeries(&TimeSeries{})} {
		d := xml.NewDecoder(strings.NewReader(string(plot)))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v\n%s", err, plot)
			}
		}
	}
	for _, want := range []string{"things", "99 pieces", "a &lt; b", ">99 s<"} {
		if !strings.Contains(string(plotTimeSeries(c)), want) {
			t.Errorf("no %q in\n%s", want, plotTimeSeries(c))
		}
	}
}
