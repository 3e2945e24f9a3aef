package policy_test

import (
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

func TestServiceAccountUsers(t *testing.T) {
	w := newFixture(t)
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:ns"}
	const extra = "authentication.platform.io/"
	for name, c := range map[string]struct {
		token string
		extra []string // beside the credential
	}{
		"to the account": {w.newToken(nil), nil},
		"to a Pod":       {w.newToken(boundObjectSpec("Pod", "pod", "u-pod")), []string{"pod-name=pod", "pod-uid=u-pod", "node-name=node", "node-uid=u-node"}},
		"to a Secret":    {w.newToken(boundObjectSpec("Secret", "secret", "")), nil},
		"to a node":      {w.newToken(boundObjectSpec("Node", "node", "")), []string{"node-name=node", "node-uid=u-node"}},
	} {
		user, err := w.authenticate(c.token)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := map[string][]string{extra + "credential-id": {"JTI=" + claims(t, c.token)["jti"].(string)}}
		for _, pair := range c.extra {
			key, value, _ := strings.Cut(pair, "=")
			want[extra+key] = []string{value}
		}
		if user.Name != "system:serviceaccount:ns:robot" || user.UID != "u-robot" || !reflect.DeepEqual(user.Groups, groups) || !reflect.DeepEqual(user.Extra, want) {
			t.Errorf("%s: %+v, want extra %v", name, user, want)
		}
	}
	user, err := w.authenticate(w.newLegacyToken("old"))
	if err != nil || user.Name != "system:serviceaccount:ns:robot" || user.Extra != nil {
		t.Errorf("legacy: %+v, %v", user, err)
	}
}

func claims(t testing.TB, token string) map[string]any {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// signToken signs claims with any key and method.
func signToken(t *testing.T, method jwt.SigningMethod, header map[string]any, c jwt.MapClaims, key any) string {
	t.Helper()
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

// TestForgedTokens tests that tokens that deviate from the issuer's are rejected.
func TestForgedTokens(t *testing.T) {
	w := newFixture(t)
	good := func() jwt.MapClaims { return claims(t, w.newToken(boundObjectSpec("Pod", "pod", ""))) }
	but := func(name string, value any) jwt.MapClaims {
		c := good()
		if c[name] = value; value == nil {
			delete(c, name)
		}
		return c
	}
	private := func(name string, value any) jwt.MapClaims {
		c := good()
		if p := c["platform.io"].(map[string]any); value == nil {
			delete(p, name)
		} else {
			p[name] = value
		}
		return c
	}
	es256 := jwt.SigningMethodES256
	other, longer := newECDSA(t, elliptic.P256()), newECDSA(t, elliptic.P384())
	strangers := newRSA(t, 2048)
	publicDER, err := x509.MarshalPKIXPublicKey(&w.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	own := func(c jwt.MapClaims) string { return signToken(t, es256, nil, c, w.key) }
	hour := func(n int) float64 { return float64(startTime.Add(time.Duration(n) * time.Hour).Unix()) }
	if _, err := w.authenticate(own(good())); err != nil {
		t.Fatalf("what the others differ from: %v", err)
	}
	whole := w.newToken(nil)
	parts := strings.Split(whole, ".")
	kid := readKeys(t, publicPEM(t, &w.key.PublicKey))[0].ID
	for name, token := range map[string]string{
		"alg none":                   signToken(t, jwt.SigningMethodNone, nil, good(), jwt.UnsafeAllowNoneSignatureType),
		"alg None in odd case":       base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"nOnE"}`)) + "." + parts[1] + ".",
		"alg swapped to HMAC":        signToken(t, jwt.SigningMethodHS256, map[string]any{"kid": kid}, good(), publicDER),
		"alg HMAC of the PEM":        signToken(t, jwt.SigningMethodHS256, nil, good(), publicPEM(t, &w.key.PublicKey)),
		"alg swapped to RSA":         signToken(t, jwt.SigningMethodRS256, map[string]any{"kid": kid}, good(), strangers),
		"alg of another curve":       signToken(t, jwt.SigningMethodES384, map[string]any{"kid": kid}, good(), longer),
		"another key":                signToken(t, es256, nil, good(), other),
		"another key, our kid":       signToken(t, es256, map[string]any{"kid": kid}, good(), other),
		"embedded jwk":               signToken(t, es256, map[string]any{"jwk": jwk("", other)}, good(), other),
		"jku":                        signToken(t, es256, map[string]any{"jku": "https://evil/keys"}, good(), other),
		"x5c":                        signToken(t, es256, map[string]any{"x5c": []string{"MIIB"}}, good(), other),
		"crit":                       signToken(t, es256, map[string]any{"crit": []string{"b64"}, "b64": false}, good(), w.key),
		"signature of another token": parts[0] + "." + parts[1] + "." + strings.Split(w.newToken(boundObjectSpec("Node", "node", "")), ".")[2],
		"no signature":               parts[0] + "." + parts[1] + ".",
		"more parts":                 whole + ".x",
		"padded":                     whole + "=",
		"expired":                    own(but("exp", hour(-1))),
		"without end":                own(but("exp", nil)),
		"end is no number":           own(but("exp", "tomorrow")),
		"not yet valid":              own(but("nbf", hour(1))),
		"issued in the future":       own(but("iat", hour(1))),
		"another issuer":             own(but("iss", "https://other")),
		"no issuer":                  own(but("iss", nil)),
		"issuer is a list":           own(but("iss", []string{issuer})),
		"another audience":           own(but("aud", []string{"other"})),
		"no audience":                own(but("aud", nil)),
		"empty audiences":            own(but("aud", []string{})),
		"another subject":            own(but("sub", "system:serviceaccount:ns:other")),
		"subject of no account":      own(but("sub", "admin")),
		"no claim of ours":           own(but("platform.io", nil)),
		"claim of ours is a text":    own(but("platform.io", "x")),
		"another namespace":          own(private("namespace", "other")),
		"no uid of the account":      own(private("serviceaccount", tree.Tree{"name": "robot"})),
		"another uid of the account": own(private("serviceaccount", tree.Tree{"name": "robot", "uid": "x"})),
		"another uid of the Pod":     own(private("pod", tree.Tree{"name": "pod", "uid": "x"})),
		"a Pod that is not there":    own(private("pod", tree.Tree{"name": "gone", "uid": "u-pod"})),
		"legacy issuer":              own(but("iss", "platform/serviceaccount")),
		"vendor's claim":             own(but("kubernetes.io", good()["platform.io"])) + "x",
		"no token":                   "",
		"dots":                       "..",
		"too long":                   whole + strings.Repeat("x", 20000),
	} {
		for range 2 { // cached results must not differ
			if user, err := w.authenticate(token); user != nil {
				t.Errorf("%s: is taken for %s", name, user.Name)
			} else if err != nil && strings.Contains(err.Error(), parts[1]) {
				t.Errorf("%s: the error shows the token: %v", name, err)
			}
		}
	}
	if _, err := w.authenticate(whole); err != nil {
		t.Errorf("the good one, after all: %v", err)
	}
}

// TestForeignTokens tests that tokens of other issuers get no opinion.
func TestForeignTokens(t *testing.T) {
	w := newFixture(t)
	key := newECDSA(t, elliptic.P256())
	for _, token := range []string{"", "abc", "a.b.c", signToken(t, jwt.SigningMethodES256, nil, jwt.MapClaims{"iss": "https://other"}, key)} {
		if user, err := w.authenticate(token); user != nil || err != nil {
			t.Errorf("%q: %v, %v", token, user, err)
		}
	}
}

// TestTokenRevocation tests that a cached token ends with the object it is bound to.
func TestTokenRevocation(t *testing.T) {
	for name, c := range map[string]struct {
		spec   tree.Tree
		change func(w *fixture)
		good   bool
	}{
		"nothing":                       {nil, func(*fixture) {}, true},
		"time":                          {nil, func(w *fixture) { w.now = w.now.Add(time.Hour) }, true},
		"more time than clocks differ":  {nil, func(w *fixture) { w.now = w.now.Add(time.Hour + 62*time.Second) }, false},
		"before it was signed":          {nil, func(w *fixture) { w.now = w.now.Add(-62 * time.Second) }, false},
		"account gone":                  {nil, func(w *fixture) { delete(w.objects, key("serviceaccounts", "ns", "robot")) }, false},
		"account made anew":             {nil, func(w *fixture) { w.putObject("serviceaccounts", "ns", "robot", "new", nil) }, false},
		"account is being deleted":      {nil, func(w *fixture) { w.terminate("serviceaccounts", "ns", "robot", w.now) }, true},
		"account was deleted long ago":  {nil, func(w *fixture) { w.terminate("serviceaccounts", "ns", "robot", w.now.Add(-61*time.Second)) }, false},
		"Pod gone":                      {boundObjectSpec("Pod", "pod", ""), func(w *fixture) { delete(w.objects, key("pods", "ns", "pod")) }, false},
		"Pod made anew":                 {boundObjectSpec("Pod", "pod", ""), func(w *fixture) { w.putObject("pods", "ns", "pod", "new", nil) }, false},
		"Pod in its grace period":       {boundObjectSpec("Pod", "pod", ""), func(w *fixture) { w.terminate("pods", "ns", "pod", w.now.Add(30*time.Second)) }, true},
		"Pod after its grace period":    {boundObjectSpec("Pod", "pod", ""), func(w *fixture) { w.terminate("pods", "ns", "pod", w.now.Add(-time.Hour)) }, false},
		"account of a Pod's token gone": {boundObjectSpec("Pod", "pod", ""), func(w *fixture) { delete(w.objects, key("serviceaccounts", "ns", "robot")) }, false},
		"node of the Pod gone":          {boundObjectSpec("Pod", "pod", ""), func(w *fixture) { delete(w.objects, key("nodes", "", "node")) }, true},
		"node gone":                     {boundObjectSpec("Node", "node", ""), func(w *fixture) { delete(w.objects, key("nodes", "", "node")) }, false},
		"node made anew":                {boundObjectSpec("Node", "node", ""), func(w *fixture) { w.putObject("nodes", "", "node", "new", nil) }, false},
		"secret gone":                   {boundObjectSpec("Secret", "secret", ""), func(w *fixture) { delete(w.objects, key("secrets", "ns", "secret")) }, false},
		"secret made anew":              {boundObjectSpec("Secret", "secret", ""), func(w *fixture) { w.putObject("secrets", "ns", "secret", "new", nil) }, false},
		"secret is deleted":             {boundObjectSpec("Secret", "secret", ""), func(w *fixture) { w.terminate("secrets", "ns", "secret", w.now.Add(-time.Hour)) }, false},
	} {
		w := newFixture(t)
		token := w.newToken(c.spec)
		if _, err := w.authenticate(token); err != nil {
			t.Fatalf("%s: before: %v", name, err)
		}
		c.change(w)
		if user, err := w.authenticate(token); (user != nil && err == nil) != c.good {
			t.Errorf("%s: %v, %v", name, user, err)
		}
	}
}

func TestLegacyTokenRevocation(t *testing.T) {
	secret := key("secrets", "ns", "old")
	for name, c := range map[string]struct {
		change       func(w *fixture)
		good, looked bool // without and with a check of the objects
	}{
		"nothing":                  {func(*fixture) {}, true, true},
		"a hundred years":          {func(w *fixture) { w.now = w.now.AddDate(100, 0, 0) }, true, true},
		"secret gone":              {func(w *fixture) { delete(w.objects, secret) }, true, false},
		"secret is being deleted":  {func(w *fixture) { w.objects[secret].Meta.Terminating = true }, true, false},
		"secret of another type":   {func(w *fixture) { w.objects[secret].Tree["type"] = "Opaque" }, true, false},
		"secret holds another one": {func(w *fixture) { w.objects[secret].Tree["data"] = tree.Tree{"token": "eA=="} }, true, false},
		"marked invalid": {func(w *fixture) {
			w.objects[secret].Meta.Labels = meta.Labels{{Key: "platform.io/legacy-token-invalid-since", Value: "2001-02-03"}}
		}, true, false},
		"marked with nothing": {func(w *fixture) {
			w.objects[secret].Meta.Labels = meta.Labels{{Key: "platform.io/legacy-token-invalid-since"}}
		}, true, true},
		"account gone":             {func(w *fixture) { delete(w.objects, key("serviceaccounts", "ns", "robot")) }, true, false},
		"account made anew":        {func(w *fixture) { w.putObject("serviceaccounts", "ns", "robot", "new", nil) }, true, false},
		"account is being deleted": {func(w *fixture) { w.terminate("serviceaccounts", "ns", "robot", w.now) }, true, false},
	} {
		for _, lookup := range []bool{false, true} {
			w := newFixture(t)
			w.Lookup = lookup
			token := w.newLegacyToken("old")
			if _, err := w.authenticate(token); err != nil {
				t.Fatalf("%s: before: %v", name, err)
			}
			c.change(w)
			want := c.good
			if lookup {
				want = c.looked
			}
			if user, err := w.authenticate(token); (user != nil && err == nil) != want {
				t.Errorf("%s (lookup %t): %v, %v", name, lookup, user, err)
			}
		}
	}
}

// TestLegacyTokenUse tests that use is recorded once a day, also for invalid tokens.
func TestLegacyTokenUse(t *testing.T) {
	const used, invalid = "platform.io/legacy-token-last-used", "platform.io/legacy-token-invalid-since"
	for _, c := range []struct {
		name   string
		labels func(now time.Time) meta.Labels
		told   bool
	}{
		{"never before", func(time.Time) meta.Labels { return nil }, true},
		{"yesterday", func(now time.Time) meta.Labels {
			return meta.Labels{{Key: used, Value: now.AddDate(0, 0, -1).Format(time.DateOnly)}}
		}, true},
		{"today", func(now time.Time) meta.Labels { return meta.Labels{{Key: used, Value: now.Format(time.DateOnly)}} }, false},
		{"by a faster clock", func(now time.Time) meta.Labels {
			return meta.Labels{{Key: used, Value: now.AddDate(0, 0, 1).Format(time.DateOnly)}}
		}, false},
		{"invalid", func(time.Time) meta.Labels { return meta.Labels{{Key: invalid, Value: "2001-02-03"}} }, true},
	} {
		w := newFixture(t)
		var told []string
		w.Lookup, w.LegacyTokenUsed = true, func(namespace, name string) { told = append(told, namespace+"/"+name) }
		token := w.newLegacyToken("old")
		w.objects[key("secrets", "ns", "old")].Meta.Labels = c.labels(w.now.UTC())
		_, _ = w.authenticate(token)
		if c.told != (len(told) == 1 && told[0] == "ns/old") || len(told) > 1 {
			t.Errorf("%s: told of %v", c.name, told)
		}
	}
}

func TestServiceAccountAudiences(t *testing.T) {
	w := newFixture(t)
	both := w.newToken(tree.Tree{"audiences": []any{"api-too", "vault"}})
	old := w.newLegacyToken("old")
	foreign := w.newToken(tree.Tree{"audiences": []any{"vault"}})
	for name, c := range map[string]struct {
		token string
		asked []string
		want  []string // nil if rejected
	}{
		"this server":             {both, nil, []string{"api-too"}},
		"not this server":         {foreign, nil, nil},
		"the other, asked":        {foreign, []string{"vault", "x"}, []string{"vault"}},
		"this server, asked":      {foreign, []string{audience}, nil},
		"all that were asked":     {both, []string{"vault", "api-too", "vault"}, []string{"vault", "api-too"}},
		"legacy":                  {old, nil, []string{audience, "api-too"}},
		"legacy, asked":           {old, []string{"api-too"}, []string{"api-too"}},
		"legacy, another's asked": {old, []string{"vault"}, nil},
	} {
		user, err := w.authenticate(c.token, c.asked...)
		var got []string
		if user != nil {
			got = user.Audiences
		}
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

var benchToken *authn.User

// BenchmarkCachedToken measures authentication by a cached Pod token.
func BenchmarkCachedToken(b *testing.B) {
	w := newFixture(b)
	token := w.newToken(boundObjectSpec("Pod", "pod", ""))
	for b.Loop() {
		benchToken, _ = w.authenticate(token)
	}
}
