package server

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Metrics are the metrics of a server at one moment, by series. Names of series include their labels, as
// they stand in the text.
type Metrics map[string]float64

// ScrapeMetrics asks for them.
func ScrapeMetrics(c *Conn) (Metrics, error) {
	answer, err := c.Expect(http.StatusOK, http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return nil, err
	}
	return parseMetrics(answer), nil
}

// parseMetrics reads the text exposition format. Lines that are not of it are passed over.
func parseMetrics(text []byte) Metrics {
	all := make(Metrics)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		space := strings.LastIndexByte(line, ' ')
		if space < 0 || line[0] == '#' {
			continue
		}
		if value, err := strconv.ParseFloat(line[space+1:], 64); err == nil {
			all[line[:space]] = value
		}
	}
	return all
}

// MetricsOf is scrapeMetrics on a connection of its own; none if the server has none. Another server may
// not let the bench read metrics; workloads then leave out what they tell.
func MetricsOf(target *Target) Metrics {
	c := target.Conn()
	defer c.Close()
	all, err := ScrapeMetrics(c)
	if err != nil {
		return nil
	}
	return all
}

// Sum adds up all series of a name, whatever their labels, and tells whether there is one.
func (f Metrics) Sum(name string) (total float64, found bool) {
	for series, value := range f {
		if rest, ok := strings.CutPrefix(series, name); ok && (rest == "" || rest[0] == '{') {
			total, found = total+value, true
		}
	}
	return total, found
}

// heapKey begins the line of a heap profile in text that tells the bytes of all objects.
const heapKey = "# HeapAlloc = "

// ReadHeap makes a server collect its garbage and returns the bytes of the objects that are left.
func ReadHeap(c *Conn) (float64, error) {
	answer, err := c.Expect(http.StatusOK, http.MethodGet, "/debug/pprof/heap?gc=1&debug=1", "", nil)
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(answer), heapKey)
	if !found {
		return 0, fmt.Errorf("heap profile without %q", heapKey)
	}
	digits, _, _ := strings.Cut(after, "\n")
	return strconv.ParseFloat(digits, 64)
}
