package report

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

func TestTimeSeriesPlotIsXML(t *testing.T) {
	c := &measure.TimeSeries{Name: "soak", Warm: 10}
	for n := range 100 {
		c.Add("things", "pieces", time.Duration(n)*time.Second, float64(n))
	}
	c.Add("a < b", "MiB", time.Second, 1)
	for _, plot := range [][]byte{PlotTimeSeries(c), PlotTimeSeries(&measure.TimeSeries{})} {
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
		if !strings.Contains(string(PlotTimeSeries(c)), want) {
			t.Errorf("no %q in\n%s", want, PlotTimeSeries(c))
		}
	}
}
