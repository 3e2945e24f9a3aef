package policy

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// An identityProvider is an OpenID Connect provider over TLS. Its URL is fixed from the start, but
// it accepts connections only between open and close.
type identityProvider struct {
	t    *testing.T
	url  string
	cert tls.Certificate

	mu     sync.Mutex
	server *http.Server
	id     string // key ID
	key    *rsa.PrivateKey
	wait   chan struct{} // if set, responses wait until it is closed
	asked  chan struct{} // receives a value for each waiting request
}

func newIdentityProvider(t *testing.T, ca tls.Certificate) *identityProvider {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p := &identityProvider{t: t, url: "https://" + l.Addr().String(), cert: pki.Server(t, ca, "127.0.0.1"), asked: make(chan struct{}, 64)}
	p.rotate("k0")
	t.Cleanup(p.close)
	return p
}

// rotate replaces the signing key. It no longer publishes the previous key.
func (p *identityProvider) rotate(id string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id, p.key = id, key
}

func (p *identityProvider) open() {
	p.t.Helper()
	l, err := net.Listen("tcp", p.url[len("https://"):])
	if err != nil {
		p.t.Fatal(err)
	}
	s := &http.Server{Handler: p, ReadHeaderTimeout: client.Watchdog}
	p.server = s
	go func() { _ = s.Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{p.cert}})) }()
}

func (p *identityProvider) close() {
	if p.server != nil {
		_ = p.server.Close()
	}
}

func (p *identityProvider) blockAnswers() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait = make(chan struct{})
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(p.wait)
		p.wait = nil
	})
}

func (p *identityProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	id, key, wait := p.id, p.key, p.wait
	p.mu.Unlock()
	if wait != nil {
		p.asked <- struct{}{}
		<-wait
	}
	var answer any
	switch r.URL.Path {
	case "/elsewhere": // the discovery document of an issuer without a server
		answer = map[string]any{"issuer": "https://issuer.example", "jwks_uri": p.url + "/keys"}
	case "/.well-known/openid-configuration":
		answer = map[string]any{"issuer": p.url, "jwks_uri": p.url + "/keys"}
	case "/keys":
		answer = map[string]any{"keys": []any{map[string]any{
			"kid": id, "kty": "RSA", "use": "sig", "alg": "RS256",
			"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		}}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// token returns a user's ID token. The claims in changes override the defaults.
func (p *identityProvider) token(user string, changes map[string]any) string {
	p.t.Helper()
	p.mu.Lock()
	id, key := p.id, p.key
	p.mu.Unlock()
	c := jwt.MapClaims{
		"iss": p.url, "aud": "troupe", "sub": user, "groups": []string{"devs"}, "hd": "example.com", "jti": "j1",
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		c[name] = value
	}
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, c)
	t.Header["kid"] = id
	text, err := t.SignedString(key)
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	ca := pki.Authority(t, "provider")
	p := newIdentityProvider(t, ca)
	r := serveUsers(t, func(c *daemon.Config, dir string) {
		o := &c.Authentication.OIDC
		o.IssuerURL, o.ClientID, o.CAFile = p.url, "troupe", filepath.Join(dir, "provider.crt")
		o.GroupsClaim, o.GroupsPrefix, o.RequiredClaims = "groups", "idp:", []string{"hd=example.com"}
		client.WriteFile(t, o.CAFile, pki.PEM(ca.Leaf))
	}, "rita")
	as := func(token string) client.Answer {
		return r.do("", "POST", selfReviewPath, "{}", "Authorization: Bearer "+token)
	}
	await := func(label, token string) (a client.Answer) {
		t.Helper()
		client.Eventually(t, func() error {
			if a = as(token); a.Code != 201 {
				return fmt.Errorf("%s: %s", label, a)
			}
			return nil
		})
		return a
	}
	jane := p.token("jane", nil)

	// If the provider is down at startup, only its users are rejected.
	r.want("a dead provider", as(jane), 401, `"message":"Unauthorized"`)
	r.expect("rita", "GET", "/version", "", 200)
	r.expect("", "GET", "/readyz", "", 200)
	p.open()
	r.want("jane", await("the provider has come", jane), 201, `"userInfo":{"username":"`+p.url+`#jane","groups":["idp:devs","system:authenticated"],`+
		`"extra":{"authentication.platform.io/credential-id":["JTI=j1"]}}`)
	for label, changes := range map[string]map[string]any{
		"another audience": {"aud": "them"}, "expired": {"exp": time.Now().Add(-time.Minute).Unix()},
		"another domain": {"hd": "example.org"}, "another issuer": {"iss": p.url + "/"}, "no expiry": {"exp": nil},
	} {
		r.want(label, as(p.token("jane", changes)), 401)
	}
	r.must(rbacPath+"/clusterroles", `{"metadata":{"name":"devs"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]}`)
	r.must(rbacPath+"/clusterrolebindings", `{"metadata":{"name":"devs"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"devs"},
		"subjects":[{"kind":"Group","apiGroup":"rbac.authorization.platform.io","name":"idp:devs"}]}`)
	r.waitAllowed(`"user":"jane","groups":["idp:devs"],"resourceAttributes":{"verb":"list","resource":"configmaps"}`)
	r.want("a group's right", r.do("", "GET", "/api/v1/configmaps", "", "Authorization: Bearer "+jane), 200)
	r.want("a review", r.do("root", "POST", "/apis/authentication.platform.io/v1/tokenreviews", `{"spec":{"token":"`+jane+`"}}`), 201,
		`"authenticated":true`, `"username":"`+p.url+`#jane"`)

	// The first token with a new key makes the server fetch the current keys, which do not include
	// the old one.
	p.rotate("k1")
	await("a new key", p.token("jane", nil))
	r.want("a token of the old key", as(jane), 401)

	// An unresponsive provider delays only tokens with an unknown key.
	release := p.blockAnswers()
	defer release()
	known := p.token("joe", nil)
	r.want("a known key", as(known), 201)
	p.rotate("k2")
	answer := make(chan client.Answer, 1)
	unknown := p.token("jim", nil)
	go func() { answer <- as(unknown) }()
	<-p.asked
	r.want("a known token, meanwhile", as(known), 201)
	r.want("a new token of a known key, meanwhile", as(known), 201)
	r.expect("rita", "GET", "/version", "", 200)
	release()
	r.want("the token that waited", <-answer, 201)

	// Known keys stay valid while the provider is down.
	kim := p.token("kim", nil)
	p.close()
	r.want("without the provider", as(kim), 201)
	r.want("and again", as(kim), 201)
}
