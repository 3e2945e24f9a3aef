package policy_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
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
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/oidc"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// The keys are shared by all tests, because generating them is slow.
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

type fakeProvider struct {
	*httptest.Server
	mu         sync.Mutex
	keys       []map[string]any
	document   map[string]any
	override   func(w http.ResponseWriter, r *http.Request) bool // handles a request if set and returns true
	keyFetches atomic.Int64                                      // fetches of the key set
}

func newFakeProvider(t testing.TB) *fakeProvider {
	p := &fakeProvider{}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(p.serve))
	p.Config.ErrorLog = nil
	p.document = map[string]any{"issuer": p.URL, "jwks_uri": p.URL + "/keys"}
	t.Cleanup(p.Close)
	return p
}

func (p *fakeProvider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	instead, document, keys := p.override, p.document, p.keys
	p.mu.Unlock()
	if instead != nil && instead(w, r) {
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(document)
	case "/keys":
		p.keyFetches.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

func (p *fakeProvider) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func jwk(id string, key crypto.Signer) map[string]any {
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

// signToken signs a token with the default claims, overridden by changes. A nil value removes a
// claim.
func (p *fakeProvider) signToken(t testing.TB, method jwt.SigningMethod, key any, header, changes map[string]any) string {
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

func kinds() *catalog.Catalog {
	c, err := platformCatalog()
	if err != nil {
		panic(err)
	}
	return c
}

func (p *fakeProvider) options(clock *atomic.Int64) oidc.Options {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	return oidc.Options{
		JWT: tree.Tree{
			"issuer": tree.Tree{"url": p.URL, "audiences": []any{"ours", "us"}, "certificateAuthority": string(ca)},
			"claimMappings": tree.Tree{
				"username": tree.Tree{"claim": "sub", "prefix": p.URL + "#"}, "groups": tree.Tree{"claim": "groups", "prefix": ""},
			},
		},
		Algorithms: []string{"RS256"}, Expressions: kinds().Expressions(), KeysChanged: func() {},
		Naming: meta.Platform, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now: func() time.Time { return now.Add(time.Duration(clock.Load())) },
	}
}

func runAuthenticator(t *testing.T, tokens *oidc.Authenticator) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { tokens.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func newReadyAuthenticator(t *testing.T, o oidc.Options, good string) *oidc.Authenticator {
	t.Helper()
	tokens := oidc.New(o)
	runAuthenticator(t, tokens)
	poll(t, "the authenticator never accepts a good token", func() bool {
		user, _ := tokens.Authenticate(bearer(good))
		return user != nil
	})
	return tokens
}

func bearer(token string) authn.Request { return authn.Request{Token: token, HasToken: true} }
