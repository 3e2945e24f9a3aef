package oidc_test

import (
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

type h = map[string]any

func TestTokens(t *testing.T) {
	p := newProvider(t)
	ours, foreign := rsaKeys()[0], rsaKeys()[1]
	p.keys = []map[string]any{published("a", ours), published("ec", ecKey())}
	good := p.mint(t, jwt.SigningMethodRS256, ours, h{"kid": "a"}, nil)
	tokens := ready(t, p.options(new(atomic.Int64)), good)
	sign := func(changes h) string { return p.mint(t, jwt.SigningMethodRS256, ours, h{"kid": "a"}, changes) }
	public, err := x509.MarshalPKIXPublicKey(ours.Public())
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	modulus := ours.N.Bytes()
	parts := strings.Split(good, ".")
	other := strings.Split(sign(h{"sub": "admin"}), ".")
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	tests := []struct {
		name, token string
		fault       string // "" is jane, "none" is no opinion
	}{
		{"good", good, ""},
		{"no key id", p.mint(t, jwt.SigningMethodRS256, ours, nil, nil), ""},
		{"several audiences", sign(h{"aud": []string{"them", "us"}}), ""},
		{"a fraction of a second", sign(h{"exp": float64(at(time.Hour)) + 0.5}), ""},
		{"clocks that differ", sign(h{"nbf": at(4 * time.Minute)}), ""},
		{"a far future", sign(h{"exp": 1e300}), ""},

		{"alg none", p.mint(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, h{"kid": "a"}, nil), "not allowed"},
		{"alg none, in another case", p.mint(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, h{"alg": "nOnE"}, nil), "malformed"},
		{"without alg", p.mint(t, jwt.SigningMethodRS256, ours, h{"alg": nil}, nil), "malformed"},
		{"HMAC with the public key", p.mint(t, jwt.SigningMethodHS256, publicPEM, h{"kid": "a"}, nil), "not allowed"},
		{"HMAC with the modulus", p.mint(t, jwt.SigningMethodHS256, modulus, h{"kid": "a"}, nil), "not allowed"},
		{"an algorithm that is not allowed", p.mint(t, jwt.SigningMethodRS512, ours, h{"kid": "a"}, nil), "not allowed"},
		{"another algorithm of the provider", p.mint(t, jwt.SigningMethodES256, ecKey(), h{"kid": "ec"}, nil), "not allowed"},
		{"an embedded key", p.mint(t, jwt.SigningMethodRS256, foreign, h{"jwk": published("x", foreign)}, nil), "no key"},
		{"an embedded address of keys", p.mint(t, jwt.SigningMethodRS256, foreign, h{"kid": "x", "jku": p.URL + "/evil", "x5u": p.URL + "/evil"}, nil), "no key"},
		{"another key under a known id", p.mint(t, jwt.SigningMethodRS256, foreign, h{"kid": "a"}, nil), "no key"},
		{"the key of another id", p.mint(t, jwt.SigningMethodRS256, ours, h{"kid": "ec"}, nil), "no key"},
		{"an extension", p.mint(t, jwt.SigningMethodRS256, ours, h{"kid": "a", "crit": []string{"b64"}}, nil), "extension"},
		{"claims of another token", parts[0] + "." + other[1] + "." + parts[2], "no key"},
		{"no signature", parts[0] + "." + parts[1] + ".", "no key"},
		{"padding", good + "=", "malformed"},

		{"another issuer", sign(h{"iss": "https://evil.example"}), "none"},
		{"an issuer with a slash", sign(h{"iss": p.URL + "/"}), "none"},
		{"an issuer in another case", sign(h{"iss": nil, "ISS": p.URL}), "none"},
		{"no issuer", sign(h{"iss": nil}), "none"},
		{"two issuers", sign(h{"iss": []string{p.URL}}), "none"},
		{"another audience", sign(h{"aud": "them"}), "another client"},
		{"no audience", sign(h{"aud": nil}), "another client"},
		{"part of an audience", sign(h{"aud": "use"}), "another client"},
		{"an audience that is no text", sign(h{"aud": []any{"us", 1}}), "another client"},
		{"expired", sign(h{"exp": at(-time.Second)}), "expired"},
		{"just expired", sign(h{"exp": at(0)}), "expired"},
		{"no expiry", sign(h{"exp": nil}), "no time of expiry"},
		{"an expiry that is a text", sign(h{"exp": "9999999999"}), "no time of expiry"},
		{"an expiry in another case", sign(h{"exp": nil, "EXP": at(time.Hour)}), "no time of expiry"},
		{"not yet valid", sign(h{"nbf": at(6 * time.Minute)}), "not valid yet"},
		{"a begin that is a text", sign(h{"nbf": "0"}), "not valid yet"},
		{"nobody", sign(h{"sub": nil}), "names no user"},
		{"an empty name", sign(h{"sub": ""}), "names no user"},
		{"a name that is a number", sign(h{"sub": 7}), "names no user"},
		{"groups that are no texts", sign(h{"groups": []any{"a", 1}}), "no list of groups"},
		{"groups that are an object", sign(h{"groups": h{}}), "no list of groups"},

		{"no token", "", "none"},
		{"no JWT", "a.b", "none"},
		{"rubbish", "a.b.c", "none"},
		{"five parts", good + "..", "none"},
	}
	for _, test := range tests {
		for range 2 { // the second time from memory
			user, err := tokens.Authenticate(bearer(test.token))
			switch test.fault {
			case "":
				if err != nil || !user.Until.After(now) || user.Name != p.URL+"#jane" || user.Groups != nil || user.Extra != nil {
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
	p := newProvider(t)
	p.keys = []map[string]any{published("a", rsaKeys()[0]), published("ec", ecKey()), published("weak", rsaKeys()[2])}
	o := p.options(new(atomic.Int64))
	o.Algorithms = []string{"PS256", "ES256", "ES384", "RS256"}
	good := p.mint(t, jwt.SigningMethodES256, ecKey(), h{"kid": "ec"}, nil)
	tokens := ready(t, o, good)
	for name, test := range map[string]struct {
		token string
		good  bool
	}{
		"ES256":               {good, true},
		"PS256":               {p.mint(t, jwt.SigningMethodPS256, rsaKeys()[0], h{"kid": "a"}, nil), true},
		"a key that is weak":  {p.mint(t, jwt.SigningMethodRS256, rsaKeys()[2], h{"kid": "weak"}, nil), false},
		"EC with an RSA name": {strings.Replace(good, strings.Split(good, ".")[0], strings.Split(p.mint(t, jwt.SigningMethodRS256, rsaKeys()[0], h{"kid": "ec"}, nil), ".")[0], 1), false},
	} {
		if user, err := tokens.Authenticate(bearer(test.token)); (user != nil) != test.good {
			t.Errorf("%s: got %v, %v", name, user, err)
		}
	}
}

func TestClaims(t *testing.T) {
	p := newProvider(t)
	p.keys = []map[string]any{published("a", rsaKeys()[0])}
	all := h{
		"email": "jane@example.com", "email_verified": true, "groups": []string{"a", "b"}, "role": "boss",
		"hd": "example.com", "jti": "j1", "team": "x",
	}
	token := func(changes h) string {
		claims := maps.Clone(all)
		maps.Copy(claims, changes)
		return p.mint(t, jwt.SigningMethodRS256, rsaKeys()[0], h{"kid": "a"}, claims)
	}
	for _, test := range []struct {
		name    string
		options func(o *oidc.Options)
		changes h
		user    string // "" is none
		groups  []string
	}{
		{"the usual", func(o *oidc.Options) {}, nil, p.URL + "#jane", []string{"a", "b"}},
		{"no prefix", func(o *oidc.Options) { o.UsernamePrefix = "-" }, nil, "jane", []string{"a", "b"}},
		{"prefixes", func(o *oidc.Options) { o.UsernamePrefix, o.GroupsPrefix = "u:", "g:" }, nil, "u:jane", []string{"g:a", "g:b"}},
		{"email", func(o *oidc.Options) { o.UsernameClaim = "email" }, nil, "jane@example.com", []string{"a", "b"}},
		{"email with a prefix", func(o *oidc.Options) { o.UsernameClaim, o.UsernamePrefix = "email", "m:" }, nil, "m:jane@example.com", []string{"a", "b"}},
		{"email, nothing said", func(o *oidc.Options) { o.UsernameClaim = "email" }, h{"email_verified": nil}, "jane@example.com", []string{"a", "b"}},
		{"email, not verified", func(o *oidc.Options) { o.UsernameClaim = "email" }, h{"email_verified": false}, "", nil},
		{"email, said in a text", func(o *oidc.Options) { o.UsernameClaim = "email" }, h{"email_verified": "true"}, "", nil},
		{"not verified, but no name", func(o *oidc.Options) {}, h{"email_verified": false}, p.URL + "#jane", []string{"a", "b"}},
		{"no groups", func(o *oidc.Options) { o.GroupsClaim = "" }, nil, p.URL + "#jane", nil},
		{"groups missing", func(o *oidc.Options) {}, h{"groups": nil}, p.URL + "#jane", nil},
		{"required", func(o *oidc.Options) { o.RequiredClaims = map[string]string{"hd": "example.com", "team": "x"} }, nil, p.URL + "#jane", []string{"a", "b"}},
		{"required, another value", func(o *oidc.Options) { o.RequiredClaims = map[string]string{"hd": "example.com", "team": "y"} }, nil, "", nil},
		{"required, missing", func(o *oidc.Options) { o.RequiredClaims = map[string]string{"gone": ""} }, nil, "", nil},
		{"required, in a list", func(o *oidc.Options) { o.RequiredClaims = map[string]string{"team": "x"} }, h{"team": []string{"x"}}, "", nil},
	} {
		o := p.options(new(atomic.Int64))
		o.RequiredClaims = nil
		ready(t, o, token(nil)) // the provider is there
		test.options(&o)
		tokens := oidc.New(o)
		run(t, tokens)
		user, err := eventually(tokens, token(test.changes))
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

// eventually is the answer once the keys are known.
func eventually(tokens *oidc.Tokens, token string) (*authn.User, error) {
	for {
		user, err := tokens.Authenticate(bearer(token))
		if err == nil || !strings.Contains(err.Error(), "not known yet") {
			return user, err
		}
		time.Sleep(time.Millisecond)
	}
}

func TestTokenExpiresWhileRemembered(t *testing.T) {
	p := newProvider(t)
	p.keys = []map[string]any{published("a", rsaKeys()[0])}
	good := p.mint(t, jwt.SigningMethodRS256, rsaKeys()[0], h{"kid": "a"}, nil)
	clock := new(atomic.Int64)
	tokens := ready(t, p.options(clock), good)
	clock.Store(int64(time.Hour - 1))
	if user, err := tokens.Authenticate(bearer(good)); user == nil {
		t.Fatal(err)
	}
	clock.Store(int64(time.Hour))
	if user, err := tokens.Authenticate(bearer(good)); user != nil || err == nil {
		t.Errorf("an expired token is still %v", user)
	}
}

func TestWhatIsSupported(t *testing.T) {
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
