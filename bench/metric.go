package main

import (
	"net/http"
	"strings"
)

// metric reads one value of a server's metrics, as text; empty if it has none.
func metric(target *Target, name string) string {
	c := target.Conn()
	defer c.Close()
	answer, err := c.Expect(http.StatusOK, http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(answer)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
