package policy_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/troupe-api/troupe/policy/authn/oidc"
)

func TestKeyRotation(t *testing.T) {
	p := newFakeProvider(t)
	p.keys = []map[string]any{jwk("a", rsaKeys()[0])}
	old := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "a"}, nil)
	next := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[1], claimMap{"kid": "b"}, nil)
	tokens := newReadyAuthenticator(t, p.options(new(atomic.Int64)), old)
	p.update(func() { p.keys = []map[string]any{jwk("b", rsaKeys()[1])} })
	if user, err := tokens.Authenticate(bearer(next)); user == nil {
		t.Errorf("the new key: %v", err)
	}
	if user, _ := tokens.Authenticate(bearer(old)); user != nil {
		t.Error("a token is remembered after its key has gone")
	}
}

func TestKeyRotationDuringFetch(t *testing.T) {
	p := newFakeProvider(t)
	p.keys = []map[string]any{jwk("a", rsaKeys()[0])}
	old := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "a"}, nil)
	next := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[1], claimMap{"kid": "b"}, nil)
	o := p.options(new(atomic.Int64))
	release := make(chan struct{})
	o.Logger = slog.New(logFunc(func(r slog.Record) {
		if r.Level == slog.LevelInfo { // the keys are stored, but the fetch has not returned
			<-release
		}
	}))
	tokens := newReadyAuthenticator(t, o, old)
	p.update(func() { p.keys = []map[string]any{jwk("b", rsaKeys()[1])} })
	result := make(chan error)
	go func() {
		_, err := tokens.Authenticate(bearer(next))
		result <- err
	}()
	for range 10_000 { // lets the request wait for the fetch; without that the test passes, too
		runtime.Gosched()
	}
	close(release)
	if err := <-result; err != nil {
		t.Error(err)
	}
}

type logFunc func(slog.Record)

func (f logFunc) Enabled(context.Context, slog.Level) bool           { return true }
func (f logFunc) Handle(_ context.Context, record slog.Record) error { f(record); return nil }
func (f logFunc) WithAttrs([]slog.Attr) slog.Handler                 { return f }
func (f logFunc) WithGroup(string) slog.Handler                      { return f }

func TestUnknownKeysAreBounded(t *testing.T) {
	p := newFakeProvider(t)
	p.keys = []map[string]any{jwk("a", rsaKeys()[0])}
	good := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "a"}, nil)
	clock := new(atomic.Int64)
	tokens := newReadyAuthenticator(t, p.options(clock), good)
	before := p.keyFetches.Load()
	n := 0
	flood := func() int64 {
		for range 10 {
			n++
			if user, err := tokens.Authenticate(bearer(p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[1], claimMap{"kid": strconv.Itoa(n)}, nil))); user != nil || err == nil {
				t.Fatalf("got %v", user)
			}
		}
		return p.keyFetches.Load() - before
	}
	if got := flood(); got != 3 {
		t.Errorf("%d fetches at once", got)
	}
	clock.Store(int64(20 * time.Second))
	if got := flood(); got != 5 {
		t.Errorf("%d fetches after 20 s", got)
	}
	if user, err := tokens.Authenticate(bearer(good)); user == nil {
		t.Error(err)
	}
}

func TestFetchIsShared(t *testing.T) {
	p := newFakeProvider(t)
	p.keys = []map[string]any{jwk("a", rsaKeys()[0])}
	good := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "a"}, nil)
	tokens := newReadyAuthenticator(t, p.options(new(atomic.Int64)), good)
	before := p.keyFetches.Load()
	begun, release := make(chan bool, 16), make(chan bool)
	p.update(func() {
		p.keys = append(p.keys, jwk("b", rsaKeys()[1]))
		p.override = func(http.ResponseWriter, *http.Request) bool {
			begun <- true
			<-release
			return false
		}
	})
	next := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[1], claimMap{"kid": "b"}, nil)
	var waiting sync.WaitGroup
	for range 20 {
		waiting.Go(func() {
			if user, err := tokens.Authenticate(bearer(next)); user == nil {
				t.Errorf("the new key: %v", err)
			}
		})
	}
	<-begun
	if user, err := tokens.Authenticate(bearer(good)); user == nil {
		t.Errorf("a known token: %v", err)
	}
	close(release)
	waiting.Wait()
	if got := p.keyFetches.Load() - before; got != 1 {
		t.Errorf("%d fetches", got)
	}
}

func TestBadProviders(t *testing.T) {
	for name, breakage := range map[string]func(p *fakeProvider) func(w http.ResponseWriter, r *http.Request) bool{
		"dead":        func(p *fakeProvider) func(http.ResponseWriter, *http.Request) bool { return respondWith(500, "") },
		"no JSON":     func(p *fakeProvider) func(http.ResponseWriter, *http.Request) bool { return respondWith(200, "<html>") },
		"no document": func(p *fakeProvider) func(http.ResponseWriter, *http.Request) bool { return respondWith(404, "") },
		"another's": func(p *fakeProvider) func(http.ResponseWriter, *http.Request) bool {
			return exceptKeys(respondWith(200, `{"issuer":"https://evil.example","jwks_uri":"`+p.URL+`/keys"}`))
		},
		"plain keys": func(p *fakeProvider) func(http.ResponseWriter, *http.Request) bool {
			plain := httptest.NewServer(p.Config.Handler)
			t.Cleanup(plain.Close)
			return exceptKeys(respondWith(200, `{"issuer":"`+p.URL+`","jwks_uri":"`+plain.URL+`/keys"}`))
		},
		"no keys": func(p *fakeProvider) func(http.ResponseWriter, *http.Request) bool {
			return respondWith(200, `{"issuer":"`+p.URL+`","jwks_uri":"`+p.URL+`/x","keys":[]}`)
		},
		"weak keys": func(p *fakeProvider) func(http.ResponseWriter, *http.Request) bool {
			return respondWith(200, `{"issuer":"`+p.URL+`","jwks_uri":"`+p.URL+`/x","keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"},{"kty":"oct","k":"AQAB"}]}`)
		},
		"huge": func(p *fakeProvider) func(http.ResponseWriter, *http.Request) bool {
			return respondWith(200, `{"issuer":"`+p.URL+`","jwks_uri":"`+p.URL+`/keys","x":"`+strings.Repeat("x", 1<<20)+`"}`)
		},
		"redirect": func(p *fakeProvider) func(http.ResponseWriter, *http.Request) bool {
			moved := respondWith(200, `{"issuer":"`+p.URL+`","jwks_uri":"`+p.URL+`/keys"}`)
			return exceptKeys(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.URL.Path, "/.well-known") {
					http.Redirect(w, r, "/moved", http.StatusFound)
					return true
				}
				return moved(w, r)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newFakeProvider(t)
			p.keys = []map[string]any{jwk("a", rsaKeys()[0])}
			good := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "a"}, nil)
			p.override = breakage(p)
			said := make(logLines, 64)
			o := p.options(new(atomic.Int64))
			o.Logger = slog.New(slog.NewTextHandler(said, nil))
			tokens := oidc.New(o)
			runAuthenticator(t, tokens)
			if line := <-said; !strings.Contains(line, "cannot load the keys") {
				t.Errorf("said %s", line)
			}
			if user, err := tokens.Authenticate(bearer(good)); user != nil || err == nil || !strings.Contains(err.Error(), "not loaded yet") {
				t.Errorf("got %v, %v", user, err)
			}
			p.update(func() { p.override = nil })
			if user, err := eventually(t, tokens, good); user == nil {
				t.Errorf("in the end: %v", err)
			}
		})
	}
}

func TestSlowProvider(t *testing.T) {
	p := newFakeProvider(t)
	asked, release := make(chan bool, 16), make(chan bool)
	p.override = func(http.ResponseWriter, *http.Request) bool {
		asked <- true
		<-release
		return false
	}
	tokens := oidc.New(p.options(new(atomic.Int64)))
	runAuthenticator(t, tokens)
	<-asked
	good := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "a"}, nil)
	if user, err := tokens.Authenticate(bearer(good)); user != nil || err == nil {
		t.Errorf("got %v, %v", user, err)
	}
	close(release)
}

func TestProviderWithUntrustedCA(t *testing.T) {
	p := newFakeProvider(t)
	asked := make(chan bool, 16)
	p.override = func(http.ResponseWriter, *http.Request) bool {
		asked <- true
		return false
	}
	said := make(logLines, 64)
	o := p.options(new(atomic.Int64))
	delete(o.JWT.Object("issuer"), "certificateAuthority")
	o.Logger = slog.New(slog.NewTextHandler(said, nil))
	tokens := oidc.New(o)
	runAuthenticator(t, tokens)
	if line := <-said; !strings.Contains(line, "cannot load the keys") {
		t.Errorf("said %s", line)
	}
	select {
	case <-asked:
		t.Error("a provider without a known certificate was asked")
	default:
	}
}

// logLines receives log lines, and drops them while its buffer is full.
type logLines chan string

func (l logLines) Write(b []byte) (int, error) {
	select {
	case l <- string(b):
	default:
	}
	return len(b), nil
}

func exceptKeys(instead func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool { return r.URL.Path != "/keys" && instead(w, r) }
}

func respondWith(code int, text string) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text))
		return true
	}
}
