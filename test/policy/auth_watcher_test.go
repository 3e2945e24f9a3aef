package policy

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// A viewer is a watch that runs, and how it has begun.
type watcher struct {
	r       *userCluster
	name    string
	begin   func() (answer *http.Response, err error)
	decoder *json.Decoder
}

// openWatch begins a watch of a user, "" being nobody; headers are "name: value". The caller may let
// nobody else use the realm's connections meanwhile.
func (r *userCluster) openWatch(what, user, path string, headers ...string) *watcher {
	r.t.Helper()
	v := r.watch(what, user, path, headers...)
	if code := v.open(); code != 200 {
		r.t.Fatalf("%s: %d", what, code)
	}
	return v
}

// watch prepares a watch, as openWatch does, and does not begin it.
func (r *userCluster) watch(what, user, path string, headers ...string) *watcher {
	v := &watcher{r: r, name: what}
	v.begin = func() (*http.Response, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*client.Watchdog)
		r.t.Cleanup(cancel)
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+path, nil)
		if err != nil {
			return nil, err
		}
		if user != "" {
			q.Header.Set("Authorization", "Bearer "+credential(user))
		}
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			q.Header.Add(name, value)
		}
		return r.transport.RoundTrip(q)
	}
	return v
}

// open begins the watch and returns the status code.
func (v *watcher) open() int {
	v.r.t.Helper()
	answer, err := v.begin()
	if err != nil {
		v.r.t.Fatalf("%s: %v", v.name, err)
	}
	v.r.t.Cleanup(func() { answer.Body.Close() })
	v.decoder = json.NewDecoder(answer.Body)
	return answer.StatusCode
}

// whileValid opens a watch with a credential that ends soon. On a busy machine it may have ended before; then the next one lives
// twice as long.
func whileValid(t *testing.T, open func(life time.Duration) (opened bool)) {
	t.Helper()
	for life := 2 * time.Second; !open(life); life *= 2 {
		if life > client.Watchdog {
			t.Fatal("no watch is opened")
		}
	}
}

// expectEvent reads until an event of an object.
func (v *watcher) expectEvent(name string) {
	v.r.t.Helper()
	for {
		var e client.Event
		if err := v.decoder.Decode(&e); err != nil || e.Type == client.Error {
			v.r.t.Fatalf("%s: %v %v instead of %s", v.name, e, err, name)
		}
		if e.Object.Name() == name {
			return
		}
	}
}

// expectEnd reads to the end, before which a Status must say why, as it does to who begins again.
func (v *watcher) expectEnd(code int) {
	v.r.t.Helper()
	var last client.Event
	for {
		var e client.Event
		if err := v.decoder.Decode(&e); err != nil {
			break
		}
		last = e
	}
	if last.Type != client.Error || last.Code() != code {
		v.r.t.Errorf("%s: the last event is %v, want an error with %d", v.name, last, code)
	}
	answer, err := v.begin()
	if err != nil {
		v.r.t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != code {
		v.r.t.Errorf("%s: begun again: %d, want %d", v.name, answer.StatusCode, code)
	}
}
