package policy

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

func certificateFile(t *testing.T, c *x509.Certificate) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.crt")
	client.WriteFile(t, path, pki.PEM(c))
	return path
}

func (v *testServer) getSecrets(token string) securityAnswer {
	return v.raw(v.anonymous(), "GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+token+"\r\n\r\n")
}

// expectNotDisclosed checks that the log, audit log and metrics do not contain the credentials.
func (v *testServer) expectNotDisclosed(hidden ...string) {
	v.t.Helper()
	for label, text := range map[string]string{"log": v.log.String(), "audit": v.audit(), "metrics": v.must(200, "GET", "/metrics", "", "")} {
		for _, secret := range hidden {
			if strings.Contains(text, secret) {
				v.t.Errorf("%.60q is in the %s", secret, label)
			}
		}
	}
}

// An issuer signs ID tokens. evil counts requests to key locations that only a forged token
// specifies.
type issuer struct {
	*httptest.Server
	key  *rsa.PrivateKey
	evil atomic.Int64
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	i.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/keys":
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{publicKey("k", key)}})
		case "/.well-known/openid-configuration":
			_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
		default:
			i.evil.Add(1)
		}
	}))
	t.Cleanup(i.Close)
	return i
}

func publicKey(id string, key *rsa.PrivateKey) map[string]any {
	return map[string]any{
		"kid": id, "kty": "RSA",
		"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
	}
}

// TestForgedIdentityTokens checks that an ID token is accepted only with the issuer's signature,
// the server's audience, and a current validity period.
func TestForgedIdentityTokens(t *testing.T) {
	i := newIssuer(t)
	v := start(t, func(c *daemon.Config) {
		o := &c.Authentication.OIDC
		o.IssuerURL, o.ClientID, o.CAFile, o.GroupsClaim = i.URL, "us", certificateFile(t, i.Certificate()), "groups"
		o.SystemNames = []string{"system:masters"}
	})
	foreign, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	mint := func(method jwt.SigningMethod, key any, header, changes map[string]any) string {
		claims := jwt.MapClaims{"iss": i.URL, "aud": "us", "sub": "mallory", "groups": []string{"system:masters"}, "exp": time.Now().Add(time.Hour).Unix()}
		for name, value := range changes {
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
		}
		token := jwt.NewWithClaims(method, claims)
		for name, value := range header {
			token.Header[name] = value
		}
		text, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	k := map[string]any{"kid": "k"}
	good := mint(jwt.SigningMethodRS256, i.key, k, nil)
	client.Eventually(t, func() error {
		if a := v.getSecrets(good); a.code != 200 {
			return fmt.Errorf("a good token: %v", a)
		}
		return nil
	})
	public := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&i.key.PublicKey)})
	parts := strings.Split(good, ".")
	joe := strings.Split(mint(jwt.SigningMethodRS256, i.key, k, map[string]any{"sub": "joe"}), ".")
	signed := func(changes map[string]any) string { return mint(jwt.SigningMethodRS256, i.key, k, changes) }
	hidden := []string{parts[1], parts[2]}
	for name, token := range map[string]string{
		"alg none":                  mint(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, k, nil),
		"alg none, in another case": mint(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, map[string]any{"alg": "NoNe"}, nil),
		"alg swapped":               mint(jwt.SigningMethodHS256, public, k, nil),
		"alg swapped, raw":          mint(jwt.SigningMethodHS256, i.key.N.Bytes(), k, nil),
		"no signature":              parts[0] + "." + parts[1] + ".",
		"a foreign signature":       parts[0] + "." + parts[1] + "." + joe[2],
		"foreign claims":            parts[0] + "." + joe[1] + "." + parts[2],
		"a foreign key":             mint(jwt.SigningMethodRS256, foreign, k, nil),
		"an embedded key":           mint(jwt.SigningMethodRS256, foreign, map[string]any{"jwk": publicKey("k", foreign)}, nil),
		"an embedded address":       mint(jwt.SigningMethodRS256, foreign, map[string]any{"kid": "e", "jku": i.URL + "/evil", "x5u": i.URL + "/evil"}, nil),
		"a path as key":             mint(jwt.SigningMethodHS256, []byte{}, map[string]any{"kid": "/dev/null"}, nil),
		"an extension":              mint(jwt.SigningMethodRS256, i.key, map[string]any{"kid": "k", "crit": []string{"exp"}}, nil),
		"another issuer":            signed(map[string]any{"iss": "https://evil.example"}),
		"no issuer":                 signed(map[string]any{"iss": nil}),
		"another audience":          signed(map[string]any{"aud": "them"}),
		"no audience":               signed(map[string]any{"aud": nil}),
		"expired":                   signed(map[string]any{"exp": time.Now().Add(-time.Second).Unix()}),
		"no expiry":                 signed(map[string]any{"exp": nil}),
		"not yet valid":             signed(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}),
		"nobody":                    signed(map[string]any{"sub": ""}),
	} {
		for range 2 {
			if got := v.getSecrets(token); got.code != 401 {
				t.Errorf("%s: %d, want 401: %s", name, got.code, got.body)
			}
		}
		if signature := token[strings.LastIndexByte(token, '.')+1:]; signature != "" {
			hidden = append(hidden, signature)
		}
	}
	if n := i.evil.Load(); n != 0 {
		t.Errorf("%d questions at an address that a token has named", n)
	}
	v.expectNotDisclosed(hidden...)
}

// TestForgedProxyHeaders checks that identity headers are accepted only from clients with a proxy
// certificate.
func TestForgedProxyHeaders(t *testing.T) {
	now := time.Now()
	template := func(name string, change func(*x509.Certificate)) *x509.Certificate {
		c := &x509.Certificate{
			Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
		if change != nil {
			change(c)
		}
		return c
	}
	proxies, other := pki.Authority(t, "proxies"), pki.Authority(t, "proxies")
	v := start(t, func(c *daemon.Config) {
		c.Authentication.RequestHeader = daemon.RequestHeader{
			ClientCAFile: certificateFile(t, proxies.Leaf), AllowedNames: []string{"front"}, UsernameHeaders: []string{"X-Remote-User"},
			UIDHeaders: []string{"X-Remote-Uid"}, GroupHeaders: []string{"X-Remote-Group"}, ExtraPrefixes: []string{"X-Remote-Extra-"},
		}
	})
	ours, err := tls.X509KeyPair(v.read("ca.crt"), v.read("ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	const admin = "X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n"
	for name, test := range map[string]struct {
		cert    *tls.Certificate
		headers string
		want    int
	}{
		"a proxy":                          {pointer(pki.Issue(t, proxies, template("front", nil))), admin, 200},
		"a proxy, and nobody":              {pointer(pki.Issue(t, proxies, template("front", nil))), "X-Remote-Group: system:masters\r\n", 401},
		"a proxy, and a bad token":         {pointer(pki.Issue(t, proxies, template("front", nil))), "X-Remote-Group: system:masters\r\nAuthorization: Bearer x\r\n", 401},
		"a proxy, with an underscore":      {pointer(pki.Issue(t, proxies, template("front", nil))), "X_Remote_User: admin\r\nX_Remote_Group: system:masters\r\n", 401},
		"a proxy, and another's groups":    {pointer(pki.Issue(t, proxies, template("front", nil))), "X-Remote-User: joe\r\nX_Remote_Group: system:masters\r\nX-Remote-Groups: system:masters\r\n", 403},
		"no certificate":                   {nil, admin, 403},
		"no certificate, odd case":         {nil, strings.ToLower(admin), 403},
		"no certificate, but a token":      {nil, admin + "Authorization: Bearer " + token + "\r\n", 403},
		"an ordinary certificate":          {pointer(pki.Issue(t, ours, template("jane", nil))), admin, 403},
		"an ordinary one of that name":     {pointer(pki.Issue(t, ours, template("front", nil))), admin, 403},
		"another name":                     {pointer(pki.Issue(t, proxies, template("back", nil))), admin, 401},
		"no name":                          {pointer(pki.Issue(t, proxies, template("", nil))), admin, 401},
		"another CA":                       {pointer(pki.Issue(t, other, template("front", nil))), admin, 401},
		"signed by itself":                 {pointer(pki.Issue(t, tls.Certificate{}, template("front", nil))), admin, 401},
		"expired":                          {pointer(pki.Issue(t, proxies, template("front", func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Minute) }))), admin, 401},
		"not yet valid":                    {pointer(pki.Issue(t, proxies, template("front", func(c *x509.Certificate) { c.NotBefore = now.Add(time.Minute) }))), admin, 401},
		"for servers":                      {pointer(pki.Issue(t, proxies, template("front", func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }))), admin, 401},
		"a proxy's certificate as subject": {pointer(pki.Issue(t, proxies, template("system:masters", func(c *x509.Certificate) { c.Subject.Organization = []string{"system:masters"} }))), "", 401},
	} {
		config := v.anonymous()
		if test.cert != nil {
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return test.cert, nil }
		}
		if got := v.raw(config, "GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n"+test.headers+"\r\n"); got.code != test.want {
			t.Errorf("%s: %d, want %d: %s", name, got.code, test.want, got.body)
		}
	}
}

func pointer[T any](v T) *T { return &v }

// TestHostileTokenWebhook checks that a token webhook can do no more than authenticate users. Wrong
// or endless responses and redirects are rejected.
func TestHostileTokenWebhook(t *testing.T) {
	var strays atomic.Int64
	stray := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strays.Add(1) }))
	t.Cleanup(stray.Close)
	remote := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var review struct {
			Spec struct{ Token string } `json:"spec"`
		}
		_ = json.Unmarshal(body, &review)
		version, masters := "authentication.platform.io/v1", `{"authenticated":true,"user":{"username":"mallory","groups":["system:masters"]}`
		switch status := masters + "}"; review.Spec.Token {
		case "g00d-t0ken":
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","status":%s}`, version, status)
		case "redirect-t0ken":
			http.Redirect(w, r, stray.URL+"/?"+review.Spec.Token, http.StatusPermanentRedirect)
		case "version-t0ken":
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","status":%s}`, version+"beta1", status)
		case "kind-t0ken":
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"SubjectAccessReview","status":%s}`, version, status)
		case "nobody-t0ken":
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","status":{"authenticated":true,"user":{"groups":["system:masters"]}}}`, version)
		case "audience-t0ken":
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","status":%s,"audiences":["others"]}}`, version, masters)
		case "text-t0ken":
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","status":{"authenticated":"true","user":{"username":"mallory"}}}`, version)
		case "spec-t0ken":
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","spec":{"authenticated":true},"authenticated":true,"status":{"user":{"username":"mallory"}}}`, version)
		case "error-t0ken":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","status":%s}`, version, status)
		case "huge-t0ken":
			_, _ = io.WriteString(w, `{"x":"`)
			for range 64 {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		case "forged-t0ken":
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","status":{"error":"no\nlevel=INFO msg=forged \u001b[31m\u2028"}}`, version)
		default:
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"TokenReview","status":{"error":"never heard of %s"}}`, version, review.Spec.Token)
		}
	}))
	t.Cleanup(remote.Close)
	file := filepath.Join(t.TempDir(), "webhook.kubeconfig")
	text := fmt.Sprintf(`{"clusters":[{"name":"w","cluster":{"server":"%s/?key=url-s3cret","certificate-authority":%q}}],"users":[{"name":"u","user":{"token":"own-s3cret"}}]}`,
		remote.URL, certificateFile(t, remote.Certificate()))
	client.WriteFile(t, file, text)
	v := start(t, func(c *daemon.Config) {
		c.Authentication.Webhook.ConfigFile, c.Authentication.Webhook.Version = file, "v1"
	})
	hidden := []string{"url-s3cret", "own-s3cret"}
	for name, want := range map[string]int{
		"g00d-t0ken": 200, "redirect-t0ken": 401, "version-t0ken": 401, "kind-t0ken": 401, "nobody-t0ken": 401, "audience-t0ken": 401,
		"text-t0ken": 401, "spec-t0ken": 401, "error-t0ken": 401, "huge-t0ken": 401, "forged-t0ken": 401, "unknown-t0ken": 401,
	} {
		got := v.getSecrets(name)
		if got.code != want || strings.Contains(got.body, name) {
			t.Errorf("%s: %d, want %d: %s", name, got.code, want, got.body)
		}
		if strings.ContainsAny(strings.TrimSpace(got.body), "\n\x1b\u2028") && got.code == 401 {
			t.Errorf("%s: a control character in %q", name, got.body)
		}
		hidden = append(hidden, name)
	}
	if n := strays.Load(); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
	for line := range strings.Lines(v.log.String()) {
		if strings.HasPrefix(line, "level=INFO msg=forged") || strings.ContainsAny(line, "\x1b\u2028") {
			t.Errorf("a forged line: %q", line)
		}
	}
	v.expectNotDisclosed(hidden...)
}
