package policy_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

type fakeWebhook struct {
	*httptest.Server
	requests    atomic.Int64
	lastRequest atomic.Value // string
	response    atomic.Value // a body as string, or a status code as int
	gate        sync.RWMutex // write-locked to delay responses
}

func newFakeWebhook(t *testing.T) *fakeWebhook {
	j := &fakeWebhook{}
	j.response.Store("")
	j.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		j.requests.Add(1)
		body, _ := io.ReadAll(r.Body)
		j.lastRequest.Store(string(body))
		j.gate.RLock()
		defer j.gate.RUnlock()
		io.WriteString(w, j.response.Load().(string))
	}))
	t.Cleanup(j.Close)
	return j
}

func (j *fakeWebhook) webhook(t *testing.T, change func(*authz.WebhookOptions)) *authz.Webhook {
	t.Helper()
	file := writeFile(t, t.TempDir(), "remote.yaml", `{"clusters":[{"name":"c","cluster":{"server":"`+j.URL+`"}}]}`)
	o := authz.WebhookOptions{
		Client: load(t, file), Version: "v1", AuthorizedTTL: time.Minute, UnauthorizedTTL: time.Second,
		Naming: meta.Platform, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	return authz.NewWebhook(o)
}

func reviewStatus(status string) string {
	return `{"apiVersion":"authorization.platform.io/v1","kind":"SubjectAccessReview","status":{` + status + `}}`
}

func TestWebhookRequests(t *testing.T) {
	j := newFakeWebhook(t)
	for _, c := range readCases[[]struct {
		Version string
		Asks    authz.Attributes
		Want    object
	}](t, "authz/webhook-requests") {
		want := parseTree(t, string(c.Want))
		j.webhook(t, func(o *authz.WebhookOptions) { o.Version = c.Version }).Authorize(c.Asks)
		if got := canonical(parseTree(t, j.lastRequest.Load().(string))); got != canonical(want) {
			t.Errorf("asked %s\nwant  %s", got, canonical(want))
		}
	}
}

func TestWebhookResponses(t *testing.T) {
	j := newFakeWebhook(t)
	for _, c := range readCases[[]struct {
		Answer       object
		Want, Reason string
	}](t, "authz/webhook-answers") {
		j.response.Store(string(c.Answer))
		w := j.webhook(t, nil)
		if d, reason := authz.Union(w).Authorize(authz.Attributes{Verb: "get", Path: "/"}); d != decisions[c.Want] || reason != c.Reason {
			t.Errorf("%s: got %d %q", c.Answer, d, reason)
		}
	}
}

func TestWebhookCache(t *testing.T) {
	j := newFakeWebhook(t)
	var now atomic.Int64
	w := j.webhook(t, func(o *authz.WebhookOptions) { o.Now = func() time.Time { return time.Unix(now.Load(), 0) } })
	ask := func(name string, want authz.Decision, asked int64) {
		t.Helper()
		before := j.requests.Load()
		d, _ := w.Authorize(authz.Attributes{User: &authn.User{Name: name}, Verb: "get", Path: "/"})
		if got := j.requests.Load() - before; d != want || got != asked {
			t.Errorf("%s at %d: %d, asked %d times", name, now.Load(), d, got)
		}
	}
	j.response.Store(reviewStatus(`"allowed":true`))
	ask("a", authz.Allow, 1)
	j.response.Store(reviewStatus(``))
	ask("a", authz.Allow, 0)
	ask("b", authz.NoOpinion, 1)
	j.response.Store(reviewStatus(`"allowed":true`))
	ask("b", authz.NoOpinion, 0)
	now.Store(1)
	ask("b", authz.Allow, 1)
	now.Store(59)
	ask("a", authz.Allow, 0)
	now.Store(60)
	j.response.Store("broken")
	ask("a", authz.Failed, 1)
	ask("a", authz.Failed, 1)
}

// TestSlowWebhook checks that a slow call does not delay other requests, and that identical
// requests share a call.
func TestSlowWebhook(t *testing.T) {
	j := newFakeWebhook(t)
	j.response.Store(reviewStatus(`"allowed":true`))
	w := j.webhook(t, nil)
	quick := authz.Attributes{User: &authn.User{Name: "quick"}, Verb: "get", Path: "/"}
	w.Authorize(quick)
	j.gate.Lock()
	var waiting sync.WaitGroup
	var allowed atomic.Int64
	for range 20 {
		waiting.Go(func() {
			if d, _ := w.Authorize(authz.Attributes{User: &authn.User{Name: "slow"}, Verb: "get", Path: "/"}); d == authz.Allow {
				allowed.Add(1)
			}
		})
	}
	poll(t, "the webhook is not called", func() bool { return j.requests.Load() == 2 })
	if d, _ := w.Authorize(quick); d != authz.Allow {
		t.Error("a known answer waits")
	}
	j.gate.Unlock()
	waiting.Wait()
	if allowed.Load() != 20 {
		t.Errorf("%d of 20 were allowed", allowed.Load())
	}
}
