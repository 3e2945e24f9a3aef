package report

import (
	"bytes"
	"fmt"
	"html"
	"math"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

// The size of a strip, which is one quantity over time, and the room around it, in pixels. Strips are low,
// because a shape is to be seen and not a value.
const (
	stripHeight = 54
	stripGap    = 34
	stripTop    = 88
	stripRight  = 96 // room for the last value
)

// timeSeriesPlot draws a time series. It shares style and label with curvePlot.
type timeSeriesPlot struct{ *measure.TimeSeries }

// PlotTimeSeries is the plot of a time series, as SVG. It wants at least one line with a moment.
func PlotTimeSeries(c *measure.TimeSeries) []byte { return timeSeriesPlot{c}.plot() }

// plot draws one strip for each line, below each other, all with the same time. Every strip begins at
// nothing, so that what looks level is level. Quantities have different units and get a scale each; a
// common one would flatten most of them.
func (c timeSeriesPlot) plot() []byte {
	var b bytes.Buffer
	height := stripTop + len(c.Lines)*(stripHeight+stripGap) + 20
	title := "What the server holds under a steady load"
	_, _ = fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n  <style>%s</style>\n",
		plotWidth, height, plotWidth, height, html.EscapeString(title), plotStyle)
	_, _ = fmt.Fprintf(&b, "  <rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", plotWidth, height)
	label(&b, "title", "start", plotLeft, 28, title)
	label(&b, "muted", "start", plotLeft, 47, "each from zero to its highest value; dotted: end of the warm-up")
	end := c.end()
	for i, line := range c.Lines {
		drawStrip(line, &b, i, float64(stripTop+i*(stripHeight+stripGap)), end, c.Warm)
	}
	if end > 0 {
		for i := range 4 {
			seconds := end * float64(i) / 3
			label(&b, "muted", "middle", timeAt(seconds, end), float64(height)-16, minutes(seconds))
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// end is when the last look was. Lines may end at different times, as with a metric that a server stopped
// to show.
func (c timeSeriesPlot) end() (seconds float64) {
	for _, line := range c.Lines {
		if n := len(line.Moments); n > 0 {
			seconds = max(seconds, line.Moments[n-1].Seconds)
		}
	}
	return seconds
}

// timeAt maps a time to pixels. All strips have the same horizontal scale, so that steps in one can be
// found in another.
func timeAt(seconds, end float64) float64 {
	return plotLeft + seconds/end*(plotWidth-plotLeft-stripRight)
}

// drawStrip draws the i-th line below top. The highest and the last value are printed, since those are what
// a leak shows in. A line whose values are all zero is drawn along the bottom.
func drawStrip(l *measure.TimeSeriesLine, b *bytes.Buffer, i int, top, end, warm float64) {
	bottom, highest := top+stripHeight, 1.0
	for _, m := range l.Moments {
		highest = max(highest, m.Value)
	}
	label(b, "value", "start", plotLeft, top-6, l.Name)
	_, _ = fmt.Fprintf(b, "  <line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", float64(plotLeft), bottom, timeAt(end, end), bottom)
	_, _ = fmt.Fprintf(b, "  <line class=\"guide\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", timeAt(warm, end), top, timeAt(warm, end), bottom)
	path := ""
	for _, m := range l.Moments {
		path += fmt.Sprintf("%.1f,%.1f ", timeAt(m.Seconds, end), bottom-m.Value/highest*stripHeight)
	}
	_, _ = fmt.Fprintf(b, "  <polyline class=\"line s%d\" points=\"%s\"/>\n", i%maxPlotLines, path)
	label(b, "muted", "end", plotLeft-8, top+5, measure.Short(math.Round(highest*10)/10))
	label(b, "muted", "end", plotLeft-8, bottom+4, "0")
	last := l.Moments[len(l.Moments)-1].Value
	label(b, "muted", "start", timeAt(end, end)+8, bottom-last/highest*stripHeight+4, l.Format(math.Round(last*10)/10))
}

// minutes names a time on the axis. Short series have their axis in seconds.
func minutes(seconds float64) string {
	if seconds < 180 {
		return measure.Short(math.Round(seconds)) + " s"
	}
	return measure.Short(math.Round(seconds/6)/10) + " min"
}
