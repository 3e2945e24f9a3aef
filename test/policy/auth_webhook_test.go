package policy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// A reviewServer is a webhook for token reviews or access reviews.
type reviewServer struct {
	*httptest.Server
	path        string // path in the URL
	requests    atomic.Int64
	lastRequest atomic.Value  // string
	unblock     chan struct{} // closed to release slow requests
	// revoked makes the webhook reject the token or user "fickle". failing makes it respond to all
	// requests with status 500.
	revoked, failing atomic.Bool
}

func (s *reviewServer) start(t *testing.T, path string, handler http.Handler) {
	s.path, s.unblock = path, make(chan struct{})
	s.Server = httptest.NewTLSServer(handler)
	t.Cleanup(s.Close)
}

func (s *reviewServer) kubeconfig(t *testing.T, dir string) string {
	t.Helper()
	path, ca := filepath.Join(dir, s.path+".yaml"), s.path+".crt"
	for name, text := range map[string]string{
		filepath.Join(dir, ca): string(pki.PEM(s.Certificate())),
		path:                   `{"clusters":[{"name":"w","cluster":{"server":"` + s.URL + "/" + s.path + `","certificate-authority":"` + ca + `"}}]}`,
	} {
		client.WriteFile(t, name, text)
	}
	return path
}

// A tokenWebhookServer authenticates fixed tokens. The response depends on the token.
type tokenWebhookServer struct {
	reviewServer
	slow       chan struct{} // receives a value for each review of the slow token
	wrongPaths atomic.Int64  // requests to paths other than /review
}

func newTokenWebhookServer(t *testing.T) *tokenWebhookServer {
	d := &tokenWebhookServer{slow: make(chan struct{}, 16)}
	d.start(t, "review", d)
	return d
}

func (d *tokenWebhookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path != "/review" {
		d.wrongPaths.Add(1)
		return
	}
	d.requests.Add(1)
	if d.failing.Load() {
		w.WriteHeader(500)
		return
	}
	d.lastRequest.Store(string(body))
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Spec       struct {
			Token string `json:"token"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(body, &review); err != nil || review.Kind != "TokenReview" {
		w.WriteHeader(400)
		return
	}
	version, status := review.APIVersion, `{"authenticated":true,"user":{"username":"wendy","uid":"42","groups":["devs"],"extra":{"k":["v"]}}}`
	switch review.Spec.Token {
	case "good":
	case "fickle":
		if d.revoked.Load() {
			status = `{"authenticated":false}`
		}
	case "barred":
		status = `{"authenticated":false,"error":"your account is locked"}`
	case "gone":
		status = `{"authenticated":false}`
	case "slow":
		d.slow <- struct{}{}
		<-d.unblock
	case "future":
		version = "authentication.platform.io/v2"
	case "empty":
		status = `{"authenticated":true,"user":{"groups":["system:masters"]}}`
	case "redirect":
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		return
	case "huge":
		status = `{"authenticated":true,"user":{"username":"` + strings.Repeat("x", 4<<20) + `"}}`
	case "rubbish":
		version, status = "", "}"
	case "forbidden":
		w.WriteHeader(403)
		return
	default:
		status = `{"authenticated":false,"error":"bad token ` + review.Spec.Token + `"}`
	}
	fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","status":%s}`, version, status)
}

func TestTokenWebhook(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1beta1", "v1"} {
		t.Run(version, func(t *testing.T) {
			d := newTokenWebhookServer(t)
			r := serveUsers(t, func(c *daemon.Config, dir string) {
				c.Authentication.Webhook.ConfigFile, c.Authentication.Webhook.Version = d.kubeconfig(t, dir), version
			}, "rita")
			checkTokenWebhook(t, r, d, version)
		})
	}
}

func checkTokenWebhook(t *testing.T, r *userCluster, d *tokenWebhookServer, version string) {
	as := func(token string) client.Answer {
		return r.do("", "POST", selfReviewPath, "{}", "Authorization: Bearer "+token)
	}
	const anonymous = `"message":"Unauthorized"`
	for range 3 {
		r.want("good", as("good"), 201, `"userInfo":{"username":"wendy","uid":"42","groups":["devs","system:authenticated"],"extra":{"k":["v"]}}`)
	}
	if n := d.requests.Load(); n != 1 {
		t.Errorf("%d questions about one token", n)
	}
	if got := d.lastRequest.Load().(string); !strings.Contains(got, `"apiVersion":"authentication.platform.io/`+version+`"`) || !strings.Contains(got, `"audiences":["https://platform.default.svc"]`) {
		t.Errorf("asked %s", got)
	}
	r.expect("rita", "POST", selfReviewPath, "{}", 201, `"username":"rita"`)
	if n := d.requests.Load(); n != 1 {
		t.Error("asked about a token that is known here")
	}
	r.want("barred", as("barred"), 401, `"reason":"Unauthorized"`, `"message":"your account is locked"`)
	for _, token := range []string{"gone", "future", "empty", "redirect", "huge", "rubbish", "forbidden", "an-unknown-token"} {
		r.want(token, as(token), 401, anonymous)
	}
	if n := d.wrongPaths.Load(); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
	cached := func(token, message string) bool {
		r.want(token, as(token), 401, message)
		before := d.requests.Load()
		r.want(token, as(token), 401, message)
		return d.requests.Load() == before
	}
	// Poll, because a cached error response may expire between two requests on a busy machine.
	if !client.Poll(func() bool { return cached("gone", anonymous) && cached("barred", "your account is locked") }) {
		t.Error("a rejection was not cached")
	}
	before := d.requests.Load()
	r.want("forbidden", as("forbidden"), 401)
	if n := d.requests.Load(); n != before+1 && (n != before+2 || !client.OnEtcd()) { // on etcd, a rejection is confirmed by a second request
		t.Error("a failure was remembered")
	}
	const reviews = "/apis/authentication.platform.io/v1/tokenreviews"
	r.want("a review", r.do("root", "POST", reviews, `{"spec":{"token":"good"}}`), 201, `"authenticated":true`, `"username":"wendy"`)
	r.want("a review for others", r.do("root", "POST", reviews, `{"spec":{"token":"good","audiences":["others"]}}`), 201, `"status":{"user":{},"error":"invalid bearer token"}`)

	// A slow webhook delays only requests that need a review. Concurrent requests with the same
	// token share a review.
	before = d.requests.Load()
	answers := make(chan client.Answer, 4)
	for range cap(answers) {
		go func() { answers <- as("slow") }()
	}
	<-d.slow
	r.want("good, meanwhile", as("good"), 201)
	r.expect("rita", "GET", "/version", "", 200)
	r.expect("", "GET", "/readyz", "", 200)
	close(d.unblock)
	for range cap(answers) {
		r.want("slow", <-answers, 201, `"username":"wendy"`)
	}
	if n := d.requests.Load() - before; n != 1 {
		t.Errorf("%d questions about one token at a time", n)
	}

	// Cached decisions stay valid while the webhook is down.
	d.Close()
	r.want("good, still", as("good"), 201)
	r.expect("rita", "GET", "/version", "", 200)
}
