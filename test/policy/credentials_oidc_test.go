package policy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"encoding/base64"

	"github.com/golang-jwt/jwt/v5"

	"github.com/troupe-api/troupe/policy/kubeconfig"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// A provider is an OpenID Connect provider that exchanges refresh tokens for ID tokens.
type provider struct {
	*httptest.Server
	t     *testing.T
	began time.Time // reference time of all token lifetimes

	mu       sync.Mutex
	refresh  string   // the valid refresh token, which changes with each use
	asked    []string // one text for each request
	withhold bool     // send no id_token
	life     time.Duration
}

func newProvider(t *testing.T) *provider {
	p := &provider{t: t, began: time.Now(), refresh: "r0", life: time.Hour}
	p.Server = httptest.NewTLSServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) token(id string, life time.Duration) string {
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"jti": id, "exp": p.began.Add(life).Unix()}).SignedString([]byte("k"))
	if err != nil {
		p.t.Error(err)
	}
	return text
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/realm/.well-known/openid-configuration" {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": p.URL + "/realm", "token_endpoint": p.URL + "/tokens"})
		return
	}
	_ = r.ParseForm()
	id, secret, _ := r.BasicAuth()
	p.asked = append(p.asked, fmt.Sprintf("%s %s %s %s %s %s", r.Method, r.URL.Path, r.Form.Get("grant_type"), r.Form.Get("refresh_token"), id, secret))
	if r.Form.Get("refresh_token") != p.refresh {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	p.refresh += "+"
	answer := map[string]any{"access_token": "a", "token_type": "Bearer", "refresh_token": p.refresh, "id_token": p.token(p.refresh, p.life)}
	if p.withhold {
		delete(answer, "id_token")
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// config writes a kubeconfig for a user of this provider.
func (p *provider) config(s *credentialServer, idToken, refreshToken string) string {
	p.t.Helper()
	ca := pki.PEM(p.Certificate())
	dir := p.t.TempDir()
	client.WriteFile(p.t, filepath.Join(dir, "idp.crt"), ca)
	path := filepath.Join(dir, "config")
	text := fmt.Sprintf(`clusters: [{name: c, cluster: {%s}}]
users:
- name: other
  user: {token: t}
- name: u
  user:
    auth-provider:
      name: oidc
      config:
        idp-issuer-url: %s/realm
        client-id: troupe
        client-secret: "s 1"
        idp-certificate-authority: idp.crt
        id-token: "%s"
        refresh-token: "%s"
        own: kept
contexts: [{name: x, context: {cluster: c, user: u, namespace: mine}}]
current-context: x
`, s.cluster(), p.URL, idToken, refreshToken)
	client.WriteFile(p.t, path, text)
	return path
}

// TestProvider checks that an ID token is used until it expires or is rejected, and is then
// refreshed. New tokens are saved in the kubeconfig for other processes.
func TestProvider(t *testing.T) {
	t.Parallel()
	s, p := serveCredentials(t), newProvider(t)
	good := p.token("first", time.Hour)
	path := p.config(s, good, "r0")
	get := func(c *http.Client) string {
		t.Helper()
		answer, err := c.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return s.headers[len(s.headers)-1]
	}
	c := clientCredentials(t, path, kubeconfig.Programs{})
	if got := get(c); got != "Bearer "+good || len(p.asked) != 0 {
		t.Errorf("sent %q, and asked %q", got, p.asked)
	}
	s.refuse["Bearer "+good] = true
	fresh := p.token("r0+", time.Hour)
	if got := get(c); got != "Bearer "+fresh {
		t.Errorf("refused: sent %q, want %q", got, fresh)
	}
	if want := []string{"POST /tokens refresh_token r0 troupe s+1"}; !slices.Equal(p.asked, want) {
		t.Errorf("the provider was asked %q, want %q", p.asked, want)
	}
	text := client.ReadFile(t, path)
	for _, want := range []string{"id-token: " + fresh, "refresh-token: r0+", "own: kept", "token: t", "namespace: mine"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the file has no %s:\n%s", want, text)
		}
	}
	if got := get(clientCredentials(t, path, kubeconfig.Programs{})); got != "Bearer "+fresh || len(p.asked) != 1 {
		t.Errorf("the next process sent %q, and asked %q", got, p.asked)
	}

	// A token that has expired or is about to expire is refreshed before the request.
	for _, life := range []time.Duration{-time.Minute, 5 * time.Second} {
		p.refresh = "r0"
		old := p.token("old", life)
		if got := get(clientCredentials(t, p.config(s, old, "r0"), kubeconfig.Programs{})); got == "Bearer "+old {
			t.Errorf("sent a token that ends in %v", life)
		}
	}
	// Without an ID token, the refresh token is used to get the first one.
	p.refresh = "r0"
	if got := get(clientCredentials(t, p.config(s, "", "r0"), kubeconfig.Programs{})); !strings.HasPrefix(got, "Bearer ey") {
		t.Errorf("sent %q", got)
	}
}

// TestProviderFaults checks the errors for failed token refreshes.
func TestProviderFaults(t *testing.T) {
	t.Parallel()
	s, p := serveCredentials(t), newProvider(t)
	old := p.token("old", -time.Hour)
	for name, test := range map[string]struct {
		id, refresh string
		prepare     func()
		want        string
	}{
		"no refresh token":      {old, "", nil, "there is no refresh-token: sign in again"},
		"a bad refresh token":   {old, "bad", nil, "rejected the refresh-token (400 invalid_grant)"},
		"no identity token":     {old, "r0", func() { p.withhold = true }, "no id_token"},
		"a token that is over":  {old, "r0", func() { p.life = -time.Hour }, "already expired"},
		"a provider that fails": {old, "r0", func() { p.Config.Handler = http.NotFoundHandler() }, "returned status 404"},
	} {
		t.Run(name, func(t *testing.T) {
			p.mu.Lock()
			p.refresh, p.withhold, p.life, p.Config.Handler = "r0", false, time.Hour, p
			if test.prepare != nil {
				test.prepare()
			}
			p.mu.Unlock()
			_, err := clientCredentials(t, p.config(s, test.id, test.refresh), kubeconfig.Programs{}).Get(s.URL)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `user "u"`) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if len(s.headers) != 0 {
		t.Errorf("the server was asked with %q", s.headers)
	}
}

// TestProviderAuthorityInline checks that idp-certificate-authority-data can replace a CA file.
func TestProviderAuthorityInline(t *testing.T) {
	t.Parallel()
	s, p := serveCredentials(t), newProvider(t)
	path := p.config(s, "", "r0")
	text := client.ReadFile(t, path)
	ca := base64.StdEncoding.EncodeToString(pki.PEM(p.Certificate()))
	changed := strings.Replace(string(text), "idp-certificate-authority: idp.crt", "idp-certificate-authority-data: "+ca, 1)
	client.WriteFile(t, path, changed)
	if answer, err := clientCredentials(t, path, kubeconfig.Programs{}).Get(s.URL); err != nil || answer.StatusCode != 200 {
		t.Error(answer, err)
	}
}
