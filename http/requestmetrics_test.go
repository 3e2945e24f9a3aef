package http

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRouteSeries checks that no request is lost when many goroutines look up and add series.
func TestRouteSeries(t *testing.T) {
	m := newRequestMetrics(func(string, string, string) bool { return true })
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 300 {
				route := countedRoute{verb: []string{"get", "watch", "list"}[i%3], code: 200 + i%2}
				route.timed = route.verb != "watch"
				m.count(route, 2*time.Millisecond)
			}
		})
	}
	all.Wait()
	var b bytes.Buffer
	m.write(&b)
	text := b.String()
	const rest = `,group="",version="",resource="",subresource="",scope=""`
	for _, want := range []string{
		`apiserver_request_total{verb="GET"` + rest + `,code="200"} 400`,
		`apiserver_request_total{verb="GET"` + rest + `,code="201"} 400`,
		`apiserver_request_total{verb="WATCH"` + rest + `,code="201"} 400`,
		`apiserver_request_duration_seconds_count{verb="LIST"` + rest + `} 800`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, `apiserver_request_duration_seconds_count{verb="WATCH"`) {
		t.Error("a watch has a duration")
	}
}

// TestOneSeriesForEachLabels tests that routes with equal labels share one series, because
// Prometheus rejects duplicates.
func TestOneSeriesForEachLabels(t *testing.T) {
	m := newRequestMetrics(func(string, string, string) bool { return true })
	for _, verb := range []string{"create", "post", "create"} {
		m.count(countedRoute{verb: verb, code: 404, timed: true}, time.Millisecond)
	}
	var b bytes.Buffer
	m.write(&b)
	seen := map[string]bool{}
	for line := range strings.Lines(b.String()) {
		series, value, _ := strings.Cut(line, "} ")
		if seen[series] {
			t.Errorf("%s} comes twice", series)
		}
		seen[series] = true
		if strings.HasPrefix(series, "apiserver_request_total{") && value != "3\n" {
			t.Errorf("%s", line)
		}
	}
}

// TestSeriesOfFormerKinds tests that the series of a removed kind are dropped, and restart at zero
// if the kind returns.
func TestSeriesOfFormerKinds(t *testing.T) {
	served := true
	m := newRequestMetrics(func(_, _, resource string) bool { return served || resource != "widgets" })
	text := func() string {
		var b bytes.Buffer
		m.write(&b)
		return b.String()
	}
	route := countedRoute{group: "example.com", version: "v1", resource: "widgets", verb: "get", code: 200, timed: true}
	m.count(route, time.Millisecond)
	m.deprecated.With("example.com", "", "widgets", "", "v1").Set(1)
	m.count(countedRoute{version: "v1", resource: "pods", verb: "get", code: 200}, 0)
	if !strings.Contains(text(), "widgets") {
		t.Errorf("not counted: %s", text())
	}
	served = false
	if all := text(); strings.Contains(all, "widgets") || !strings.Contains(all, "pods") {
		t.Errorf("after the kind has gone: %s", all)
	}
	served = true
	m.count(route, time.Millisecond)
	if all := text(); !strings.Contains(all, `resource="widgets",subresource="",scope="resource",code="200"} 1`) {
		t.Errorf("after the kind is back: %s", all)
	}
}
