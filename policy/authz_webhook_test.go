package policy_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/remote"
)

// A fakeWebhook returns configured responses and records the last request.
type fakeWebhook struct {
	*httptest.Server
	requests    atomic.Int64
	lastRequest atomic.Value // string
	response    atomic.Value // string, or int for a code
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

// webhook returns a Webhook for the fake; change may be nil.
func (j *fakeWebhook) webhook(t *testing.T, change func(*authz.WebhookOptions)) *authz.Webhook {
	t.Helper()
	file := filepath.Join(t.TempDir(), "remote.yaml")
	text := `{"clusters":[{"name":"c","cluster":{"server":"` + j.URL + `"}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	service, err := remote.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	o := authz.WebhookOptions{
		Client: service, Version: "v1", AuthorizedTTL: time.Minute, UnauthorizedTTL: time.Second,
		Naming: meta.Platform, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	return authz.NewWebhook(o)
}

func reviewStatus(version, status string) string {
	return `{"apiVersion":"authorization.platform.io/` + version + `","kind":"SubjectAccessReview","status":{` + status + `}}`
}

func TestWebhookRequests(t *testing.T) {
	j := newFakeWebhook(t)
	j.response.Store(reviewStatus("v1", ""))
	user := &authn.User{Name: "u", UID: "1", Groups: []string{"a", "b"}, Extra: map[string][]string{"k": {"v"}}}
	get := authz.Attributes{User: user, Verb: "get", ResourceRequest: true, Group: "g", Version: "v", Resource: "r", Subresource: "s", Namespace: "n", Name: "x"}
	list := authz.Attributes{User: &authn.User{Name: "u"}, Verb: "list", ResourceRequest: true, Resource: "r", Selectors: &authz.Selectors{
		Fields: []selector.Requirement{{Key: "f", Operator: "In", Values: []string{"1"}}},
		Labels: []selector.Requirement{{Key: "a", Operator: "Exists"}, {Key: "b", Operator: "Gt", Values: []string{"1"}}},
	}}
	path := authz.Attributes{User: &authn.User{Name: "u"}, Verb: "get", Path: "/p"}
	for _, c := range []struct {
		version string
		a       authz.Attributes
		want    string
	}{
		{"v1", get, `{"resourceAttributes":{"namespace":"n","verb":"get","group":"g","version":"v","resource":"r","subresource":"s","name":"x"},"user":"u","groups":["a","b"],"extra":{"k":["v"]},"uid":"1"}`},
		{"v1beta1", get, `{"resourceAttributes":{"namespace":"n","verb":"get","group":"g","version":"v","resource":"r","subresource":"s","name":"x"},"user":"u","group":["a","b"],"extra":{"k":["v"]},"uid":"1"}`},
		{"v1", list, `{"resourceAttributes":{"verb":"list","resource":"r","fieldSelector":{"requirements":[{"key":"f","operator":"In","values":["1"]}]},"labelSelector":{"requirements":[{"key":"a","operator":"Exists"}]}},"user":"u"}`},
		{"v1", path, `{"nonResourceAttributes":{"path":"/p","verb":"get"},"user":"u"}`},
	} {
		j.webhook(t, func(o *authz.WebhookOptions) { o.Version = c.version }).Authorize(c.a)
		want := `{"apiVersion":"authorization.platform.io/` + c.version + `","kind":"SubjectAccessReview","spec":` + c.want + `}`
		if got := j.lastRequest.Load(); got != want {
			t.Errorf("asked %s\nwant  %s", got, want)
		}
	}
}

func TestWebhookResponses(t *testing.T) {
	j := newFakeWebhook(t)
	const failed = "the authorization webhook gave no answer"
	for _, c := range []struct {
		answer, reason string
		want           authz.Decision
	}{
		{reviewStatus("v1", `"allowed":true`), "", authz.Allow},
		{reviewStatus("v1", `"allowed":true,"reason":"why"`), "why", authz.Allow},
		{reviewStatus("v1", `"allowed":false,"reason":"not I"`), "not I", authz.NoOpinion},
		{reviewStatus("v1", `"denied":true,"reason":"never"`), "never", authz.Deny},
		{reviewStatus("v1", `"allowed":true,"denied":true`), failed, authz.Failed},
		{reviewStatus("v1beta1", `"allowed":true`), failed, authz.Failed},
		{`{"status":{"allowed":true}}`, failed, authz.Failed},
		{`secret`, failed, authz.Failed},
	} {
		j.response.Store(c.answer)
		w := j.webhook(t, nil)
		if d, reason := authz.Union(w).Authorize(authz.Attributes{Verb: "get", Path: "/"}); d != c.want || reason != c.reason {
			t.Errorf("%q: got %d %q", c.answer, d, reason)
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
	j.response.Store(reviewStatus("v1", `"allowed":true`))
	ask("a", authz.Allow, 1)
	j.response.Store(reviewStatus("v1", ``))
	ask("a", authz.Allow, 0)
	ask("b", authz.NoOpinion, 1)
	j.response.Store(reviewStatus("v1", `"allowed":true`))
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

// TestSlowWebhook tests that a slow call does not delay others, and that equal requests share one
// call.
func TestSlowWebhook(t *testing.T) {
	j := newFakeWebhook(t)
	j.response.Store(reviewStatus("v1", `"allowed":true`))
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
