package http

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRouteSeries counts from many goroutines, which find some series and add others.
func TestRouteSeries(t *testing.T) {
	m := newMetrics()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 300 {
				key := routeKey{verb: []string{"get", "watch", "list"}[i%3]}
				r := loadOrAdd(&m.mu, &m.routes, key)
				r.countResponse(&m.mu, 200+i%2)
				if key.verb != "watch" {
					r.durations.observe(2 * time.Millisecond)
				}
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
