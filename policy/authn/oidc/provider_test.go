package oidc_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/oidc"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// Keys are made once: they take their time.
var (
	rsaKeys = sync.OnceValue(func() (keys [3]*rsa.PrivateKey) {
		for i, bits := range []int{2048, 2048, 1024} {
			keys[i], _ = rsa.GenerateKey(rand.Reader, bits)
		}
		return keys
	})
	ecKey = sync.OnceValue(func() *ecdsa.PrivateKey {
		key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		return key
	})
)

// A provider is an issuer over TLS, with a key set that tests change.
type provider struct {
	*httptest.Server
	mu       sync.Mutex
	keys     []map[string]any
	document map[string]any
	instead  func(w http.ResponseWriter, r *http.Request) bool // answers instead, if it is set and says so
	fetched  atomic.Int64                                      // key sets
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(p.serve))
	p.Config.ErrorLog = nil
	p.document = map[string]any{"issuer": p.URL, "jwks_uri": p.URL + "/keys"}
	t.Cleanup(p.Close)
	return p
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	instead, document, keys := p.instead, p.document, p.keys
	p.mu.Unlock()
	if instead != nil && instead(w, r) {
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(document)
	case "/keys":
		p.fetched.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

func (p *provider) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *provider) roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(p.Certificate())
	return roots
}

// published is a key as key sets show it.
func published(id string, key crypto.Signer) map[string]any {
	text := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
	switch public := key.Public().(type) {
	case *rsa.PublicKey:
		return map[string]any{"kid": id, "kty": "RSA", "use": "sig", "n": text(public.N), "e": text(big.NewInt(int64(public.E)))}
	case *ecdsa.PublicKey:
		point, _ := public.Bytes()
		return map[string]any{"kid": id, "kty": "EC", "crv": "P-256", "x": base64.RawURLEncoding.EncodeToString(point[1:33]), "y": base64.RawURLEncoding.EncodeToString(point[33:])}
	}
	return nil
}

// mint signs a token: the usual claims with changes, of which nil takes one away.
func (p *provider) mint(t *testing.T, method jwt.SigningMethod, key any, header, changes map[string]any) string {
	t.Helper()
	c := jwt.MapClaims{"iss": p.URL, "aud": "us", "sub": "jane", "exp": now.Add(time.Hour).Unix()}
	for name, value := range changes {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	token := jwt.NewWithClaims(method, c)
	for name, value := range header {
		token.Header[name] = value
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (p *provider) options(clock *atomic.Int64) oidc.Options {
	return oidc.Options{
		IssuerURL: p.URL, ClientID: "us", UsernameClaim: "sub", GroupsClaim: "groups", Algorithms: []string{"RS256"},
		Roots: p.roots(), Naming: meta.Platform, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now: func() time.Time { return now.Add(time.Duration(clock.Load())) },
	}
}

// run keeps the keys of an authenticator current during a test.
func run(t *testing.T, tokens *oidc.Tokens) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { tokens.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

// ready runs an authenticator and waits until it lets a good token in.
func ready(t *testing.T, o oidc.Options, good string) *oidc.Tokens {
	t.Helper()
	tokens := oidc.New(o)
	run(t, tokens)
	for range 2000 {
		if user, _ := tokens.Authenticate(bearer(good)); user != nil {
			return tokens
		}
		time.Sleep(5 * time.Millisecond)
	}
	_, err := tokens.Authenticate(bearer(good))
	t.Fatalf("never ready: %v", err)
	return nil
}

func bearer(token string) authn.Request { return authn.Request{Token: token, HasToken: true} }
