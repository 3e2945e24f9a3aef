package policy_test

import (
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
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
	metrics     *authz.Metrics
	requests    atomic.Int64
	lastRequest atomic.Value // string
	response    atomic.Value // a body as string, or a status code as int
	gate        sync.RWMutex // write-locked to delay responses
}

func newFakeWebhook(t *testing.T) *fakeWebhook {
	j := &fakeWebhook{metrics: authz.NewMetrics()}
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

// webhook returns a Webhook whose configuration has the given fields, in JSON without braces.
func (j *fakeWebhook) webhook(t *testing.T, config string, now func() time.Time) *authz.Webhook {
	t.Helper()
	file := writeFile(t, t.TempDir(), "remote.yaml", `{"clusters":[{"name":"c","cluster":{"server":"`+j.URL+`"}}]}`)
	c := parseTree(t, `{"subjectAccessReviewVersion":"v1","timeout":"30s","authorizedTTL":"1m","cacheAuthorizedRequests":true,
		"unauthorizedTTL":"1s","cacheUnauthorizedRequests":true}`)
	maps.Copy(c, parseTree(t, "{"+config+"}"))
	return authz.NewWebhook(authz.WebhookOptions{
		Name: "hook", Client: load(t, file), Config: c, Expressions: kinds().Expressions(), Metrics: j.metrics,
		Naming: meta.Platform, Now: now, Logger: slog.New(slog.DiscardHandler),
	})
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
		j.webhook(t, `"subjectAccessReviewVersion":"`+c.Version+`"`, time.Now).Authorize(c.Asks)
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
		w := j.webhook(t, "", time.Now)
		if d, reason := authz.Union(w).Authorize(authz.Attributes{Verb: "get", Path: "/"}); d != decisions[c.Want] || reason != c.Reason {
			t.Errorf("%s: got %d %q", c.Answer, d, reason)
		}
	}
}

func TestWebhookCache(t *testing.T) {
	j := newFakeWebhook(t)
	var now atomic.Int64
	w := j.webhook(t, "", func() time.Time { return time.Unix(now.Load(), 0) })
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
	w = j.webhook(t, `"cacheAuthorizedRequests":false,"cacheUnauthorizedRequests":false,"failurePolicy":"Deny"`, time.Now)
	ask("a", authz.Deny, 1)
	for _, status := range []string{`"allowed":true`, ``} {
		j.response.Store(reviewStatus(status))
		want := map[string]authz.Decision{`"allowed":true`: authz.Allow}[status]
		ask("a", want, 1)
		ask("a", want, 1)
	}
	w = j.webhook(t, `"authorizedTTL":"0s"`, func() time.Time { return time.Unix(now.Load(), 0) }) // the default, 5m
	j.response.Store(reviewStatus(`"allowed":true`))
	ask("a", authz.Allow, 1)
	now.Add(299)
	ask("a", authz.Allow, 0)
	now.Add(1)
	ask("a", authz.Allow, 1)
}

func TestWebhookConditions(t *testing.T) {
	j := newFakeWebhook(t)
	j.response.Store(reviewStatus(`"allowed":true`))
	for _, c := range readCases[[]struct {
		Asks       authz.Attributes
		Conditions []string
		Want       string
	}](t, "authz/webhook-conditions") {
		var conditions []map[string]string
		for _, text := range c.Conditions {
			conditions = append(conditions, map[string]string{"expression": text})
		}
		for _, policy := range []string{"NoOpinion", "Deny"} {
			want := c.Want
			if want == "failed" {
				want = map[string]string{"NoOpinion": "no opinion", "Deny": "deny"}[policy]
			}
			w := j.webhook(t, `"failurePolicy":"`+policy+`","matchConditions":`+toJSON(t, conditions), time.Now)
			before := j.requests.Load()
			if d, reason := w.Authorize(c.Asks); d != decisions[want] || (j.requests.Load() > before) != (want == "allow") || (reason == "") == (c.Want == "failed") {
				t.Errorf("%q, %s: got %d %q", c.Conditions, policy, d, reason)
			}
		}
	}
}

func TestAuthorizationMetrics(t *testing.T) {
	j := newFakeWebhook(t)
	open, closed := j.webhook(t, "", time.Now), j.webhook(t, `"failurePolicy":"Deny"`, time.Now)
	a := j.metrics.Counted(authz.Union(open, closed), "Webhook", "both")
	for _, status := range []string{`"allowed":true`, `"denied":true`} {
		j.response.Store(reviewStatus(status))
		a.Authorize(authz.Attributes{Verb: status})
	}
	j.response.Store("broken")
	a.Authorize(authz.Attributes{Verb: "broken"})
	var text strings.Builder
	j.metrics.WriteMetrics(&text)
	for _, want := range []string{
		`apiserver_authorization_decisions_total{type="Webhook",name="both",decision="allowed"} 1`,
		`apiserver_authorization_decisions_total{type="Webhook",name="both",decision="denied"} 2`,
		`apiserver_authorization_webhook_evaluations_total{name="hook",result="success"} 2`,
		`apiserver_authorization_webhook_evaluations_total{name="hook",result="error"} 2`,
		`apiserver_authorization_webhook_evaluations_fail_open_total{name="hook",result="error"} 1`,
		`apiserver_authorization_webhook_duration_seconds_count{name="hook",result="error"} 2`,
	} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, &text)
		}
	}
}

func TestSlowWebhook(t *testing.T) {
	j := newFakeWebhook(t)
	j.response.Store(reviewStatus(`"allowed":true`))
	w := j.webhook(t, "", time.Now)
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
