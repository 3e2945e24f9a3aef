package policy_test

import (
	"crypto/x509"
	"encoding/json"
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

func TestTokens(t *testing.T) {
	p := newFakeProvider(t)
	ours, foreign := rsaKeys()[0], rsaKeys()[1]
	p.keys = []map[string]any{jwk("a", ours), jwk("ec", ecKey())}
	good := p.signToken(t, jwt.SigningMethodRS256, ours, claimMap{"kid": "a"}, nil)
	tokens := newReadyAuthenticator(t, p.options(new(atomic.Int64)), good)
	sign := func(changes claimMap) string {
		return p.signToken(t, jwt.SigningMethodRS256, ours, claimMap{"kid": "a"}, changes)
	}
	public, err := x509.MarshalPKIXPublicKey(ours.Public())
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	modulus := ours.N.Bytes()
	parts := strings.Split(good, ".")
	other := strings.Split(sign(claimMap{"sub": "admin"}), ".")
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	tests := []struct {
		name, token string
		fault       string // "" means jane, "none" no opinion
	}{
		{"good", good, ""},
		{"no key id", p.signToken(t, jwt.SigningMethodRS256, ours, nil, nil), ""},
		{"several audiences", sign(claimMap{"aud": []string{"them", "us"}}), ""},
		{"a fraction of a second", sign(claimMap{"exp": float64(at(time.Hour)) + 0.5}), ""},
		{"clocks that differ", sign(claimMap{"nbf": at(4 * time.Minute)}), ""},
		{"a far future", sign(claimMap{"exp": 1e300}), ""},

		{"alg none", p.signToken(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claimMap{"kid": "a"}, nil), "not allowed"},
		{"alg none, in another case", p.signToken(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claimMap{"alg": "nOnE"}, nil), "malformed"},
		{"without alg", p.signToken(t, jwt.SigningMethodRS256, ours, claimMap{"alg": nil}, nil), "malformed"},
		{"HMAC with the public key", p.signToken(t, jwt.SigningMethodHS256, publicPEM, claimMap{"kid": "a"}, nil), "not allowed"},
		{"HMAC with the modulus", p.signToken(t, jwt.SigningMethodHS256, modulus, claimMap{"kid": "a"}, nil), "not allowed"},
		{"an algorithm that is not allowed", p.signToken(t, jwt.SigningMethodRS512, ours, claimMap{"kid": "a"}, nil), "not allowed"},
		{"another algorithm of the provider", p.signToken(t, jwt.SigningMethodES256, ecKey(), claimMap{"kid": "ec"}, nil), "not allowed"},
		{"an embedded key", p.signToken(t, jwt.SigningMethodRS256, foreign, claimMap{"jwk": jwk("x", foreign)}, nil), "no key"},
		{"an embedded address of keys", p.signToken(t, jwt.SigningMethodRS256, foreign, claimMap{"kid": "x", "jku": p.URL + "/evil", "x5u": p.URL + "/evil"}, nil), "no key"},
		{"another key under a known id", p.signToken(t, jwt.SigningMethodRS256, foreign, claimMap{"kid": "a"}, nil), "no key"},
		{"the key of another id", p.signToken(t, jwt.SigningMethodRS256, ours, claimMap{"kid": "ec"}, nil), "no key"},
		{"an extension", p.signToken(t, jwt.SigningMethodRS256, ours, claimMap{"kid": "a", "crit": []string{"b64"}}, nil), "extension"},
		{"claims of another token", parts[0] + "." + other[1] + "." + parts[2], "no key"},
		{"no signature", parts[0] + "." + parts[1] + ".", "no key"},
		{"padding", good + "=", "malformed"},

		{"another issuer", sign(claimMap{"iss": "https://evil.example"}), "none"},
		{"an issuer with a slash", sign(claimMap{"iss": p.URL + "/"}), "none"},
		{"an issuer in another case", sign(claimMap{"iss": nil, "ISS": p.URL}), "none"},
		{"no issuer", sign(claimMap{"iss": nil}), "none"},
		{"two issuers", sign(claimMap{"iss": []string{p.URL}}), "none"},
		{"another audience", sign(claimMap{"aud": "them"}), "another client"},
		{"no audience", sign(claimMap{"aud": nil}), "another client"},
		{"part of an audience", sign(claimMap{"aud": "use"}), "another client"},
		{"an audience that is no text", sign(claimMap{"aud": []any{"us", 1}}), "another client"},
		{"expired", sign(claimMap{"exp": at(-time.Second)}), "expired"},
		{"just expired", sign(claimMap{"exp": at(0)}), "expired"},
		{"no expiry", sign(claimMap{"exp": nil}), "no time of expiry"},
		{"an expiry that is a text", sign(claimMap{"exp": "9999999999"}), "no time of expiry"},
		{"an expiry in another case", sign(claimMap{"exp": nil, "EXP": at(time.Hour)}), "no time of expiry"},
		{"not yet valid", sign(claimMap{"nbf": at(6 * time.Minute)}), "not valid yet"},
		{"a begin that is a text", sign(claimMap{"nbf": "0"}), "not valid yet"},
		{"nobody", sign(claimMap{"sub": nil}), "names no user"},
		{"an empty name", sign(claimMap{"sub": ""}), "names no user"},
		{"a name that is a number", sign(claimMap{"sub": 7}), "names no user"},
		{"groups that are no texts", sign(claimMap{"groups": []any{"a", 1}}), "no list of groups"},
		{"groups that are an object", sign(claimMap{"groups": claimMap{}}), "no list of groups"},

		{"no token", "", "none"},
		{"no JWT", "a.b", "none"},
		{"rubbish", "a.b.c", "none"},
		{"five parts", good + "..", "none"},
	}
	for _, test := range tests {
		for range 2 { // the second time from the cache
			user, err := tokens.Authenticate(bearer(test.token))
			switch test.fault {
			case "":
				if err != nil || !user.ValidUntil.After(now) || user.Name != p.URL+"#jane" || user.Groups != nil || user.Extra != nil {
					t.Errorf("%s: got %v, %v", test.name, user, err)
				}
			case "none":
				if user != nil || err != nil {
					t.Errorf("%s: got %v, %v, want no opinion", test.name, user, err)
				}
			default:
				if user != nil || err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Errorf("%s: got %v, %v, want an error with %q", test.name, user, err, test.fault)
				}
				if err != nil && strings.Contains(err.Error(), parts[1]) {
					t.Errorf("%s: the error holds the token", test.name)
				}
			}
		}
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
		"hd": "example.com", "jti": "j1", "team": "x",
	}
	token := func(changes claimMap) string {
		claims := maps.Clone(all)
		maps.Copy(claims, changes)
		return p.signToken(t, jwt.SigningMethodRS256, rsaKeys()[0], claimMap{"kid": "a"}, claims)
	}
	for _, test := range []struct {
		name    string
		options func(o *oidc.Options)
		changes claimMap
		user    string // "" for none
		groups  []string
	}{
		{"the usual", func(o *oidc.Options) {}, nil, p.URL + "#jane", []string{"a", "b"}},
		{"no prefix", func(o *oidc.Options) { o.UsernamePrefix = "-" }, nil, "jane", []string{"a", "b"}},
		{"prefixes", func(o *oidc.Options) { o.UsernamePrefix, o.GroupsPrefix = "u:", "g:" }, nil, "u:jane", []string{"g:a", "g:b"}},
		{"email", func(o *oidc.Options) { o.UsernameClaim = "email" }, nil, "jane@example.com", []string{"a", "b"}},
		{"email with a prefix", func(o *oidc.Options) { o.UsernameClaim, o.UsernamePrefix = "email", "m:" }, nil, "m:jane@example.com", []string{"a", "b"}},
		{"email, nothing said", func(o *oidc.Options) { o.UsernameClaim = "email" }, claimMap{"email_verified": nil}, "jane@example.com", []string{"a", "b"}},
		{"email, not verified", func(o *oidc.Options) { o.UsernameClaim = "email" }, claimMap{"email_verified": false}, "", nil},
		{"email, said in a text", func(o *oidc.Options) { o.UsernameClaim = "email" }, claimMap{"email_verified": "true"}, "", nil},
		{"not verified, but no name", func(o *oidc.Options) {}, claimMap{"email_verified": false}, p.URL + "#jane", []string{"a", "b"}},
		{"no groups", func(o *oidc.Options) { o.GroupsClaim = "" }, nil, p.URL + "#jane", nil},
		{"groups missing", func(o *oidc.Options) {}, claimMap{"groups": nil}, p.URL + "#jane", nil},
		{"groups null", func(o *oidc.Options) {}, claimMap{"groups": json.RawMessage("null")}, p.URL + "#jane", nil},
		{"groups of the system", func(o *oidc.Options) { o.SystemNames = []string{"system:readers"} }, claimMap{"groups": []string{"a", "system:masters", "system:readers"}}, p.URL + "#jane", []string{"a", "system:readers"}},
		{"required", func(o *oidc.Options) { o.RequiredClaims = map[string]string{"hd": "example.com", "team": "x"} }, nil, p.URL + "#jane", []string{"a", "b"}},
		{"required, another value", func(o *oidc.Options) { o.RequiredClaims = map[string]string{"hd": "example.com", "team": "y"} }, nil, "", nil},
		{"required, missing", func(o *oidc.Options) { o.RequiredClaims = map[string]string{"gone": ""} }, nil, "", nil},
		{"required, in a list", func(o *oidc.Options) { o.RequiredClaims = map[string]string{"team": "x"} }, claimMap{"team": []string{"x"}}, "", nil},
	} {
		o := p.options(new(atomic.Int64))
		o.RequiredClaims = nil
		newReadyAuthenticator(t, o, token(nil)) // the provider is ready
		test.options(&o)
		tokens := oidc.New(o)
		runAuthenticator(t, tokens)
		user, err := eventually(t, tokens, token(test.changes))
		switch {
		case test.user == "":
			if user != nil || err == nil {
				t.Errorf("%s: got %v", test.name, user)
			}
		case user == nil || user.Name != test.user || !reflect.DeepEqual(user.Groups, test.groups):
			t.Errorf("%s: got %v, %v", test.name, user, err)
		case !reflect.DeepEqual(user.Extra, map[string][]string{"authentication.platform.io/credential-id": {"JTI=j1"}}):
			t.Errorf("%s: extra %v", test.name, user.Extra)
		}
	}
}

// eventually authenticates a token once the keys are known.
func eventually(t *testing.T, tokens *oidc.Authenticator, token string) (user *authn.User, err error) {
	t.Helper()
	poll(t, "the keys are never known", func() bool {
		user, err = tokens.Authenticate(bearer(token))
		return err == nil || !strings.Contains(err.Error(), "not known yet")
	})
	return user, err
}

// poll calls done until it returns true.
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

// everybody accepts every token.
type everybody struct{}

func (everybody) Authenticate(authn.Request) (*authn.User, error) {
	return &authn.User{Name: "everybody"}, nil
}

func TestSupportedConfiguration(t *testing.T) {
	for where, want := range map[string]bool{
		"https://a": true, "https://a:1/b": true, "http://a": false, "https://": false, "a": false, "": false,
		"https://u:p@a": false, "https://a?b": false, "https://a#b": false, "https://a?": false, "HTTPS://a": true,
	} {
		if oidc.IsIssuer(where) != want {
			t.Errorf("%q: got %t", where, !want)
		}
	}
	for _, name := range oidc.Algorithms {
		if jwt.GetSigningMethod(name) == nil || strings.HasPrefix(name, "HS") || name == "none" {
			t.Errorf("algorithm %s", name)
		}
	}
}
