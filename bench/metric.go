package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// figures are the metrics of a server at one moment, by series.
type figures map[string]float64

// readFigures asks for them. Lines that are not of the text exposition format are passed over.
func readFigures(c *Conn) (figures, error) {
	answer, err := c.Expect(http.StatusOK, http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return nil, err
	}
	all := make(figures)
	for line := range strings.Lines(string(answer)) {
		line = strings.TrimSpace(line)
		space := strings.LastIndexByte(line, ' ')
		if space < 0 || line[0] == '#' {
			continue
		}
		if value, err := strconv.ParseFloat(line[space+1:], 64); err == nil {
			all[line[:space]] = value
		}
	}
	return all, nil
}

// figuresOf is readFigures on a connection of its own; none if the server has none.
func figuresOf(target *Target) figures {
	c := target.Conn()
	defer c.Close()
	all, err := readFigures(c)
	if err != nil {
		return nil
	}
	return all
}

// sum adds up all series of a name, whatever their labels, and tells whether there is one.
func (f figures) sum(name string) (total float64, found bool) {
	for series, value := range f {
		if rest, ok := strings.CutPrefix(series, name); ok && (rest == "" || rest[0] == '{') {
			total, found = total+value, true
		}
	}
	return total, found
}

// heapMark begins the line of a heap profile in text that tells the bytes of all objects.
const heapMark = "# HeapAlloc = "

// readHeap makes a server collect its garbage and returns the bytes of the objects that are left.
func readHeap(c *Conn) (float64, error) {
	answer, err := c.Expect(http.StatusOK, http.MethodGet, "/debug/pprof/heap?gc=1&debug=1", "", nil)
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(answer), heapMark)
	if !found {
		return 0, fmt.Errorf("heap profile without %q", heapMark)
	}
	digits, _, _ := strings.Cut(after, "\n")
	return strconv.ParseFloat(digits, 64)
}
