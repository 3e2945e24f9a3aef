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
)

// TestHostileAuthorizationWebhook checks that only a valid response that explicitly allows the
// request counts as permission.
func TestHostileAuthorizationWebhook(t *testing.T) {
	var strays atomic.Int64
	stray := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strays.Add(1) }))
	t.Cleanup(stray.Close)
	remote := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var review struct {
			Spec struct{ User string } `json:"spec"`
		}
		_ = json.Unmarshal(body, &review)
		version, kind, status := "authorization.platform.io/v1", "SubjectAccessReview", `{"allowed":true}`
		switch review.Spec.User {
		case "good":
		case "redirect":
			http.Redirect(w, r, stray.URL, http.StatusTemporaryRedirect)
			return
		case "version":
			version += "beta1"
		case "kind":
			kind = "TokenReview"
		case "code":
			w.WriteHeader(http.StatusForbidden)
		case "both":
			status = `{"allowed":true,"denied":true}`
		case "text":
			status = `{"allowed":"true"}`
		case "spec":
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":%q,"allowed":true,"spec":{"allowed":true}}`, version, kind)
			return
		case "huge":
			_, _ = io.WriteString(w, `{"status":{"allowed":true},"x":"`)
			for range 64 {
				_, _ = w.Write(make([]byte, 1<<20))
			}
			return
		case "forged":
			status = `{"allowed":false,"reason":"no\nlevel=INFO msg=forged \u001b[31m\u2028"}`
		default:
			status = `{"allowed":false}`
		}
		fmt.Fprintf(w, `{"apiVersion":%q,"kind":%q,"status":%s}`, version, kind, status)
	}))
	t.Cleanup(remote.Close)
	file := filepath.Join(t.TempDir(), "webhook.kubeconfig")
	text := fmt.Sprintf(`{"clusters":[{"name":"w","cluster":{"server":"%s/?key=url-s3cret","certificate-authority":%q}}],"users":[{"name":"u","user":{"token":"own-s3cret"}}]}`,
		remote.URL, certificateFile(t, remote.Certificate()))
	client.WriteFile(t, file, text)
	users := []string{"good", "redirect", "version", "kind", "code", "both", "text", "spec", "huge", "forged", "unknown"}
	let := createUsers(t, users...)
	v := start(t, let, func(c *daemon.Config) {
		c.Authorization.Modes = []string{"Webhook"}
		c.Authorization.Webhook.ConfigFile, c.Authorization.Webhook.Version = file, "v1"
	})
	for _, user := range users {
		want := 403
		if user == "good" {
			want = 200
		}
		text := v.want(user, "GET", "/api/v1/secrets", "", "", want)
		if strings.ContainsAny(strings.TrimSpace(text), "\n\x1b\u2028") && want == 403 {
			t.Errorf("%s: a control character in %q", user, text)
		}
	}
	if n := strays.Load(); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
	for line := range strings.Lines(v.log.String() + v.audit()) {
		if strings.HasPrefix(line, "level=INFO msg=forged") || strings.ContainsAny(line, "\x1b\u2028") {
			t.Errorf("a forged line: %q", line)
		}
	}
	v.expectNotDisclosed("url-s3cret", "own-s3cret", credential("good"))
}
