package http_test

import (
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/policy/authz"
)

type transientDenier struct{ denials, calls atomic.Int64 }

func (g *transientDenier) Authorize(authz.Attributes) (authz.Decision, string) {
	g.calls.Add(1)
	if g.denials.Add(-1) >= 0 {
		return authz.NoOpinion, ""
	}
	return authz.Allow, ""
}

// TestWatchSurvivesTransientDenial tests that a watch survives the replacement of a binding, but
// not a permanent denial.
func TestWatchSurvivesTransientDenial(t *testing.T) {
	var rights transientDenier
	var generation atomic.Uint64
	f := serve(t, func(o *http.Options) { o.Authorizer, o.AuthGeneration = &rights, generation.Load })
	resp, cancel := f.watch(configMapsPath + "?watch=1&resourceVersion=5")
	defer cancel()
	ended := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(resp.Body)
		ended <- string(text)
	}()
	for range 3 {
		asked := rights.calls.Load()
		rights.denials.Store(1)
		generation.Add(1)
		for rights.calls.Load() < asked+2 { // one denied, one allowed
			select {
			case text := <-ended:
				t.Fatalf("the watch has ended with %s", text)
			default:
				runtime.Gosched()
			}
		}
	}
	rights.denials.Store(1 << 40)
	generation.Add(1)
	select {
	case text := <-ended:
		if !strings.Contains(text, `"code":403`) {
			t.Errorf("the watch has ended with %s", text)
		}
	case <-time.After(5 * time.Minute):
		t.Error("the watch outlives its right")
	}
}
