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

// A watcher is a watch that can be restarted with the same request.
type watcher struct {
	r       *userCluster
	name    string
	begin   func() (answer *http.Response, err error)
	decoder *json.Decoder
}

// openWatch starts a watch as a user, or anonymously if user is "". Each of headers has the form
// "name: value". The watch occupies the cluster's transport, which other requests must not use
// until it ends.
func (r *userCluster) openWatch(label, user, path string, headers ...string) *watcher {
	r.t.Helper()
	v := r.watch(label, user, path, headers...)
	if code := v.open(); code != 200 {
		r.t.Fatalf("%s: %d", label, code)
	}
	return v
}

// watch returns a watcher without starting the watch.
func (r *userCluster) watch(label, user, path string, headers ...string) *watcher {
	v := &watcher{r: r, name: label}
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

// whileValid calls open with the lifetime for a credential, and doubles the lifetime until open
// succeeds. On a busy machine, a short-lived credential may expire before the watch starts.
func whileValid(t *testing.T, open func(life time.Duration) (opened bool)) {
	t.Helper()
	for life := 2 * time.Second; !open(life); life *= 2 {
		if life > client.Watchdog {
			t.Fatal("no watch is opened")
		}
	}
}

// expectEvent reads watch events until it finds one for the named object.
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

// expectEnd reads the watch to its end. The last event must be an ERROR event with the status code,
// and a new watch request must fail with the same code.
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
