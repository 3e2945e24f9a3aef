//go:build chromium

package clients

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// A provider is an OpenID Connect provider for the authorization code flow with PKCE. It signs in
// the user carol without a prompt.
type provider struct {
	*httptest.Server
	key *rsa.PrivateKey

	mu    sync.Mutex
	asked url.Values // query of the authorization request
	nonce string     // replaces the requested nonce if set
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key}
	p.Server = httptest.NewTLSServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := func(code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		answer(200, map[string]string{"issuer": p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token"})
	case "/keys":
		answer(200, map[string]any{"keys": []any{map[string]string{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "k",
			"n": b64(p.key.N.Bytes()), "e": b64(big.NewInt(int64(p.key.E)).Bytes())}}})
	case "/authorize":
		p.asked = r.URL.Query()
		back := url.Values{"code": {"the-code"}, "state": {p.asked.Get("state")}}
		http.Redirect(w, r, p.asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/token":
		_ = r.ParseForm()
		proof := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if r.PostForm.Get("code") != "the-code" || p.asked.Get("code_challenge_method") != "S256" || b64(proof[:]) != p.asked.Get("code_challenge") ||
			r.PostForm.Get("client_id") != p.asked.Get("client_id") || r.PostForm.Get("redirect_uri") != p.asked.Get("redirect_uri") {
			answer(400, map[string]string{"error": "invalid_grant"})
			return
		}
		nonce := p.asked.Get("nonce")
		if p.nonce != "" {
			nonce = p.nonce
		}
		token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"iss": p.URL, "aud": "console", "sub": "carol", "nonce": nonce, "exp": time.Now().Add(time.Hour).Unix()})
		token.Header["kid"] = "k"
		text, err := token.SignedString(p.key)
		if err != nil {
			panic(err)
		}
		answer(200, map[string]string{"id_token": text, "token_type": "Bearer"})
	default:
		http.NotFound(w, r)
	}
}

// TestSignInWithProvider checks that users can sign in to the console through the server's OIDC
// issuer, and that the console rejects an ID token with a wrong nonce.
func TestSignInWithProvider(t *testing.T) {
	p := newProvider(t)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	client.WriteFile(t, ca, pki.PEM(p.Certificate()))
	s := client.Open(t, func(c *daemon.Config) {
		c.Serving.Console = true
		c.Authentication.OIDC.IssuerURL, c.Authentication.OIDC.ClientID, c.Authentication.OIDC.CAFile, c.Authentication.OIDC.UsernamePrefix = p.URL, "console", ca, "-"
	})
	client.Eventually(t, func() error { // the server reads the provider's configuration in the background
		answer, err := s.Get(s.Ctx, "/console/config.json")
		if err == nil && strings.Contains(string(answer.Body), `"signIn":null`) {
			err = &answer
		}
		return err
	})
	host := func(where string) string { return strings.TrimPrefix(where, "https://") }
	b := openBrowser(t, host(s.URL), host(p.URL))
	b.excuse("403") // carol has no permissions, and anonymous self reviews are forbidden
	b.excuse("favicon.ico")
	b.open(s.URL + "/console/#/access")
	b.see("Sign in to Troupe")
	b.click("Sign in with " + host(p.URL))
	b.see("carol")
	b.see("Who may do what") // the page where the sign-in began
	if got := b.text(`location.search + JSON.stringify(Object.keys(sessionStorage))`); got != `["token"]` {
		t.Errorf("after the sign-in the address and the tab keep %s", got)
	}
	b.click("Sign out")
	b.see("Sign in to Troupe")

	p.mu.Lock()
	p.nonce = "that-of-another"
	p.mu.Unlock()
	b.click("Sign in with " + host(p.URL))
	b.see("not the answer to this sign-in")
}
