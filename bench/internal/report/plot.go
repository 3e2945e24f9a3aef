package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

// The size of a plot, and the room around its lines, in pixels. The vertical axis has two decades at least,
// so that noise does not fill the plot.
const (
	plotWidth  = 640
	plotHeight = 360
	plotLeft   = 76
	plotRight  = 40
	plotTop    = 84
	plotBottom = 56
	minDecade  = 2   // of the vertical axis
	valueRoom  = 0.3 // decades below the lowest point, for its value
)

// plotStyle has the colours, light and dark. Every plot has a background of its own, so that it is readable
// on any page. The colours differ in lightness as well as in hue, for readers who do not see all hues.
const plotStyle = `
    text { font: 13px system-ui, sans-serif; fill: #1f2328; }
    .title { font-size: 16px; font-weight: 600; }
    .muted { fill: #59636e; font-size: 12px; }
    .paper { fill: #ffffff; }
    .grid { stroke: #d9dee3; }
    .guide { stroke: #8c959f; stroke-dasharray: 3 5; fill: none; }
    .line { fill: none; stroke-width: 2; }
    .s0 { stroke: #1f6fd0; } .d0 { fill: #1f6fd0; }
    .s1 { stroke: #c2570c; } .d1 { fill: #c2570c; }
    .s2 { stroke: #147d57; } .d2 { fill: #147d57; }
    .s3 { stroke: #8250c4; } .d3 { fill: #8250c4; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; } .muted { fill: #9aa4ae; } .paper { fill: #12171e; } .grid { stroke: #2c343d; } .guide { stroke: #6e7781; }
      .s0 { stroke: #58a6ff; } .d0 { fill: #58a6ff; }
      .s1 { stroke: #f0883e; } .d1 { fill: #f0883e; }
      .s2 { stroke: #3fb984; } .d2 { fill: #3fb984; }
      .s3 { stroke: #b98cf5; } .d3 { fill: #b98cf5; }
    }
  `

// maxPlotLines is how many lines can be told apart. Colours repeat from there on.
const maxPlotLines = 4

// axis maps the logarithm of a value to pixels. low must be less than high.
type axis struct {
	low, high  float64 // powers of ten
	begin, end float64 // pixels
}

// Pixels grow downwards, so the vertical axis has its end above its beginning.
func (a axis) at(value float64) float64 {
	return a.begin + (math.Log10(value)-a.low)/(a.high-a.low)*(a.end-a.begin)
}

// curvePlot draws a curve. It only reads the curve.
type curvePlot struct{ *measure.Curve }

// PlotCurve is the plot of a curve, as SVG. The same curve always gives the same bytes.
func PlotCurve(c *measure.Curve) []byte { return curvePlot{c}.plot() }

// axes spans whole decades vertically, and the sizes with a little room horizontally. Whole decades keep
// plots of different servers comparable by eye.
func (c curvePlot) axes() (x, y axis) {
	x = axis{low: math.Inf(1), high: math.Inf(-1), begin: plotLeft, end: plotWidth - plotRight}
	y = axis{low: math.Inf(1), high: math.Inf(-1), begin: plotHeight - plotBottom, end: plotTop}
	for _, s := range c.Series {
		for _, p := range s.Points {
			x.low, x.high = min(x.low, math.Log10(float64(p.Size))), max(x.high, math.Log10(float64(p.Size)))
			y.low, y.high = min(y.low, math.Log10(p.CPU)), max(y.high, math.Log10(p.CPU))
		}
	}
	x.low, x.high = x.low-0.15, x.high+0.15
	y.low, y.high = math.Floor(y.low-valueRoom), math.Ceil(y.high)
	for y.high-y.low < minDecade {
		y.high++
	}
	return x, y
}

// plot draws the curve as SVG, with both axes logarithmic: what does not depend on the size is a level
// line, what is proportional to it rises as the dotted guides do. It is written by hand, because the
// module's dependencies are kept few and the result is reviewed as text.
func (c curvePlot) plot() []byte {
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n  <style>%s</style>\n",
		plotWidth, plotHeight, plotWidth, plotHeight, html.EscapeString(c.Title), plotStyle)
	_, _ = fmt.Fprintf(&b, "  <rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", plotWidth, plotHeight)
	label(&b, "title", "start", plotLeft, 28, c.Title)
	label(&b, "muted", "start", plotLeft, 47, "server CPU time per operation; dotted: proportional to the size")
	if len(c.Series) > 0 {
		x, y := c.axes()
		c.grid(&b, x, y)
		c.lines(&b, x, y)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// Texts come from names of workloads and are escaped all the same.
func label(b *bytes.Buffer, class, anchor string, x, y float64, text string) {
	_, _ = fmt.Fprintf(b, "  <text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, anchor, x, y, html.EscapeString(text))
}

// grid draws decades, sizes and guides. Guides have the slope of proportionality, at each decade, and are
// cut off at the frame.
func (c curvePlot) grid(b *bytes.Buffer, x, y axis) {
	for power := y.low; power <= y.high; power++ {
		at := y.at(math.Pow(10, power))
		_, _ = fmt.Fprintf(b, "  <line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x.begin, at, x.end, at)
		label(b, "muted", "end", x.begin-8, at+4, decade(power))
	}
	seen := make(map[int]bool)
	for _, s := range c.Series {
		for _, p := range s.Points {
			if !seen[p.Size] {
				seen[p.Size] = true
				label(b, "muted", "middle", x.at(float64(p.Size)), y.begin+20, measure.Plural(p.Size, c.Of))
			}
		}
	}
	_, _ = fmt.Fprintf(b, "  <clipPath id=\"inside\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></clipPath>\n", x.begin, y.end, x.end-x.begin, y.begin-y.end)
	for power := y.low - math.Ceil(x.high-x.low); power < y.high; power++ {
		_, _ = fmt.Fprintf(b, "  <line class=\"guide\" clip-path=\"url(#inside)\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
			x.begin, y.at(math.Pow(10, power)), x.end, y.at(math.Pow(10, power+x.high-x.low)))
	}
}

// lines draws the series, their names and the values at their points. Values stand above their points,
// except for the lower of two lines, so they do not cover each other. The width of a name is estimated, as
// SVG cannot tell it.
func (c curvePlot) lines(b *bytes.Buffer, x, y axis) {
	right := float64(plotLeft)
	for i, s := range c.Series {
		colour := i % maxPlotLines
		path := ""
		for _, p := range s.Points {
			path += fmt.Sprintf("%.1f,%.1f ", x.at(float64(p.Size)), y.at(p.CPU))
		}
		_, _ = fmt.Fprintf(b, "  <polyline class=\"line s%d\" points=\"%s\"/>\n", colour, path)
		above := -11.0
		if c.endsBelow(s) {
			above = 21
		}
		for _, p := range s.Points {
			px, py := x.at(float64(p.Size)), y.at(p.CPU)
			_, _ = fmt.Fprintf(b, "  <circle class=\"d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", colour, px, py)
			label(b, "value", "middle", px, py+above, formatMicroseconds(p.CPU))
		}
		if s.Name != "" {
			_, _ = fmt.Fprintf(b, "  <circle class=\"d%d\" cx=\"%.1f\" cy=\"64\" r=\"4\"/>\n", colour, right+4)
			label(b, "value", "start", right+14, 68, s.Name)
			right += 34 + 7.2*float64(len(s.Name))
		}
	}
}

// formatMicroseconds prints microseconds in the unit in which they have at most three digits before the
// point. Units change with the value, for the range of a curve is six decades.
func formatMicroseconds(us float64) string {
	switch {
	case us >= 1e6:
		return measure.Short(us/1e6) + " s"
	case us >= 1e3:
		return measure.Short(us/1e3) + " ms"
	default:
		return measure.Short(us) + " µs"
	}
}

// endsBelow tells whether a line ends below another one, so that its values stand below it. The last points
// are compared, as those are farthest apart.
func (c curvePlot) endsBelow(s *measure.Series) bool {
	last := func(s *measure.Series) float64 {
		if len(s.Points) == 0 {
			return 0
		}
		return s.Points[len(s.Points)-1].CPU
	}
	for _, other := range c.Series {
		if last(s) < last(other) {
			return true
		}
	}
	return false
}

// decade names a power of ten of microseconds. It is exact, unlike a measured value, and so is printed in
// full.
func decade(power float64) string {
	switch {
	case power >= 6:
		return strconv.FormatFloat(math.Pow(10, power-6), 'f', -1, 64) + " s"
	case power >= 3:
		return strconv.FormatFloat(math.Pow(10, power-3), 'f', -1, 64) + " ms"
	default:
		return strconv.FormatFloat(math.Pow(10, power), 'f', -1, 64) + " µs"
	}
}
