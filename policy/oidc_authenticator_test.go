package policy_test

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/oidc"
)

type claimMap = map[string]any

// A tokenCase describes how a token differs from a valid one. Numbers are seconds since 1970. The
// current time is 1893553445.
type tokenCase struct {
	Name, Alg, Key string
	Header, Claims claimMap // null removes a claim
	Token          string   // "" to sign a new one
	Fault          string   // "" for the user jane, "none" for no opinion
}

func TestTokens(t *testing.T) {
	p := newFakeProvider(t)
	ours, foreign := rsaKeys()[0], rsaKeys()[1]
	p.keys = []map[string]any{jwk("a", ours), jwk("ec", ecKey())}
	good := p.signToken(t, jwt.SigningMethodRS256, ours, claimMap{"kid": "a"}, nil)
	tokens := newReadyAuthenticator(t, p.options(new(atomic.Int64)), good)
	public, err := x509.MarshalPKIXPublicKey(ours.Public())
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]any{
		"": ours, "foreign": foreign, "ec": ecKey(), "none": jwt.UnsafeAllowNoneSignatureType, "modulus": ours.N.Bytes(),
		"public": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
	}
	parts := strings.Split(good, ".")
	other := strings.Split(p.signToken(t, jwt.SigningMethodRS256, ours, claimMap{"kid": "a"}, claimMap{"sub": "admin"}), ".")
	tests := append(readCases[[]tokenCase](t, "oidc/tokens", "ISSUER", p.URL),
		tokenCase{Name: "an embedded key", Key: "foreign", Header: claimMap{"jwk": jwk("x", foreign)}, Fault: "not signed by a key"},
		tokenCase{Name: "claims of another token", Token: parts[0] + "." + other[1] + "." + parts[2], Fault: "not signed by a key"},
		tokenCase{Name: "no signature", Token: parts[0] + "." + parts[1] + ".", Fault: "not signed by a key"},
		tokenCase{Name: "padding", Token: good + "=", Fault: "malformed"},
		tokenCase{Name: "five parts", Token: good + "..", Fault: "none"},
		tokenCase{Name: "no JWT", Token: "a.b", Fault: "none"},
		tokenCase{Name: "rubbish", Token: "a.b.c", Fault: "none"},
	)
	for _, test := range tests {
		if test.Header == nil {
			test.Header = claimMap{"kid": "a"}
		}
		if test.Token == "" {
			test.Token = p.signToken(t, jwt.GetSigningMethod(cmp.Or(test.Alg, "RS256")), keys[test.Key], test.Header, test.Claims)
		}
		for range 2 { // the second time from the cache
			user, err := tokens.Authenticate(bearer(test.Token))
			switch test.Fault {
			case "":
				if err != nil || !user.ValidUntil.After(now) || user.Name != p.URL+"#jane" || user.Groups != nil || user.Extra != nil {
					t.Errorf("%s: got %v, %v", test.Name, user, err)
				}
			case "none":
				if user != nil || err != nil {
					t.Errorf("%s: got %v, %v, want no opinion", test.Name, user, err)
				}
			default:
				if user != nil || err == nil || !strings.Contains(err.Error(), test.Fault) {
					t.Errorf("%s: got %v, %v, want an error with %q", test.Name, user, err, test.Fault)
				}
				if err != nil && strings.Contains(err.Error(), parts[1]) {
					t.Errorf("%s: the error holds the token", test.Name)
				}
			}
		}
	}
	if user, err := tokens.Authenticate(bearer("")); user != nil || err != nil {
		t.Errorf("no token: got %v, %v, want no opinion", user, err)
	}
}

func TestAlgorithms(t *testing.T) {
	p := newFakeProvider(t)
	p.keys = []map[string]any{jwk("a", rsaKeys()[0]), jwk("ec", ecKey()), jwk("weak", rsaKeys()[2])}
	o := p.options(new(atomic.Int64))
	o.Algorithms = []string{"PS256", "ES256", "ES384", "RS256"}
	good := p.signToken(t, jwt.SigningMethodES256, ecKey(), claimMap{"kid": "ec"}, nil)
	tokens := newReadyAuthenticator(t, o, good)
	for name, test := range map[string]struct {
		token string
		good  bool
	}{
		"ES256":               {good, true},
		"PS256":               {p.signToken(t, jwt.SigningMethodPS256, rsaKeys()[0], claimMap{"kid": "a"}, nil), true},
		"a key that is weak":  {p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[2], claimMap{"kid": "weak"}, nil), false},
		"EC with an RSA name": {strings.Replace(good, strings.Split(good, ".")[0], strings.Split(p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "ec"}, nil), ".")[0], 1), false},
	} {
		if user, err := tokens.Authenticate(bearer(test.token)); (user != nil) != test.good {
			t.Errorf("%s: got %v, %v", name, user, err)
		}
	}
}

func TestClaims(t *testing.T) {
	p := newFakeProvider(t)
	p.keys = []map[string]any{jwk("a", rsaKeys()[0])}
	all := claimMap{
		"email": "jane@example.com", "email_verified": true, "groups": []string{"a", "b"}, "role": "boss",
		"hd": "example.com", "jti": "j1", "team": "x", "n": 1.5, "nested": claimMap{"roles": []string{"r1", ""}},
	}
	token := func(changes claimMap) string {
		claims := maps.Clone(all)
		maps.Copy(claims, changes)
		return p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "a"}, claims)
	}
	for _, test := range readCases[[]struct {
		Name        string
		JWT         object // fields that replace those of the usual configuration
		SystemNames []string
		Claims      claimMap
		User        *authn.User // nil for none
		Fault       string
	}](t, "oidc/claims", "ISSUER", p.URL) {
		o := p.options(new(atomic.Int64))
		o.SystemNames = test.SystemNames
		maps.Copy(o.JWT, parseTree(t, string(test.JWT)))
		tokens := oidc.New(o)
		if err := tokens.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		user, err := tokens.Authenticate(bearer(token(test.Claims)))
		if user != nil {
			user.ValidUntil = time.Time{}
		}
		if !reflect.DeepEqual(user, test.User) || (err != nil) != (test.Fault != "") || err != nil && !strings.Contains(err.Error(), test.Fault) {
			t.Errorf("%s: got %+v, %v", test.Name, user, err)
		}
	}
}

func eventually(t *testing.T, tokens *oidc.Authenticator, token string) (user *authn.User, err error) {
	t.Helper()
	poll(t, "the keys are never known", func() bool {
		user, err = tokens.Authenticate(bearer(token))
		return err == nil || !strings.Contains(err.Error(), "not loaded yet")
	})
	return user, err
}

// poll calls done until it returns true. After a timeout, it fails the test with otherwise as the
// message.
func poll(t *testing.T, otherwise string, done func() bool) {
	t.Helper()
	tick, watchdog := time.NewTicker(time.Millisecond), time.After(5*time.Minute)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-watchdog:
			t.Fatal(otherwise)
		}
	}
}

func TestCachedTokenExpires(t *testing.T) {
	p := newFakeProvider(t)
	p.keys = []map[string]any{jwk("a", rsaKeys()[0])}
	good := p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "a"}, nil)
	clock := new(atomic.Int64)
	tokens := newReadyAuthenticator(t, p.options(clock), good)
	clock.Store(int64(time.Hour - 1))
	if user, err := tokens.Authenticate(bearer(good)); user == nil {
		t.Fatal(err)
	}
	clock.Store(int64(time.Hour))
	if user, err := tokens.Authenticate(bearer(good)); user != nil || err == nil {
		t.Errorf("an expired token is still %v", user)
	}
	if user, err := authn.Union(tokens, everybody{}).Authenticate(bearer(good)); user == nil || user.Name != "everybody" {
		t.Errorf("the next method is not asked about a rejected token: %v, %v", user, err)
	}
}

type everybody struct{}

func (everybody) Authenticate(authn.Request) (*authn.User, error) {
	return &authn.User{Name: "everybody"}, nil
}

func TestSupportedAlgorithms(t *testing.T) {
	for _, name := range oidc.Algorithms {
		if jwt.GetSigningMethod(name) == nil || strings.HasPrefix(name, "HS") || name == "none" {
			t.Errorf("algorithm %s", name)
		}
	}
}
