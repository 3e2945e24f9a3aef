package http_test

import (
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// TestSeatsAreGivenBack tests that seats are released after every outcome, and that requests are
// rejected when all seats are taken.
func TestSeatsAreGivenBack(t *testing.T) {
	f := serve(t, func(o *http.Options) {
		o.FlowControl = flowcontrol.New(meta.Kubernetes, 1) // one seat for catch-all, which has no queues
	})
	var panics atomic.Bool
	f.store.beforeGet = func() {
		if panics.Load() {
			panic("on purpose")
		}
	}
	panics.Store(true)
	for range 3 {
		if resp, body := f.do("GET", configMapsPath+"/a", ""); resp.StatusCode != 500 {
			t.Errorf("a panic: %d %s", resp.StatusCode, body)
		}
	}
	panics.Store(false)
	f.do("POST", configMapsPath, "{")
	for range 3 {
		if resp, body := f.do("GET", configMapsPath+"/a", ""); resp.StatusCode != 404 {
			t.Errorf("after panics: %d %s", resp.StatusCode, body)
		}
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	f.store.beforeGet = func() { entered <- struct{}{}; <-leave }
	done := make(chan struct{})
	go func() {
		f.do("GET", configMapsPath+"/a", "")
		close(done)
	}()
	<-entered
	resp, body := f.do("GET", configMapsPath, "")
	if s := f.parseStatus(body); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" || s.Reason != "TooManyRequests" {
		t.Errorf("without a seat: %d %s", resp.StatusCode, body)
	}
	close(leave)
	<-done
	if resp, body := f.do("GET", configMapsPath, ""); resp.StatusCode != 200 {
		t.Errorf("afterwards: %d %s", resp.StatusCode, body)
	}
}
