package main

import (
	"fmt"
	"strconv"
	"strings"
)

// metrics maps the series of a server, with their labels, to values.
type metrics map[string]float64

// scrapeMetrics reads metrics in the text exposition format and skips other lines.
func scrapeMetrics(c *Conn) (metrics, error) {
	answer, err := c.Call(get("/metrics"))
	all := metrics{}
	for line := range strings.Lines(string(answer)) {
		line = strings.TrimSpace(line)
		if space := strings.LastIndexByte(line, ' '); space > 0 && line[0] != '#' {
			if value, err := strconv.ParseFloat(line[space+1:], 64); err == nil {
				all[line[:space]] = value
			}
		}
	}
	return all, err
}

func (m metrics) sum(name string) (total float64, found bool) {
	for series, value := range m {
		if rest, ok := strings.CutPrefix(series, name); ok && (rest == "" || rest[0] == '{') {
			total, found = total+value, true
		}
	}
	return total, found
}

// readHeap forces a garbage collection on the server and returns the live heap in bytes.
func readHeap(c *Conn) (float64, error) {
	const key = "# HeapAlloc = "
	answer, err := c.Call(get("/debug/pprof/heap?gc=1&debug=1"))
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(answer), key)
	if !found {
		return 0, fmt.Errorf("heap profile without %q", key)
	}
	digits, _, _ := strings.Cut(after, "\n")
	return strconv.ParseFloat(digits, 64)
}
