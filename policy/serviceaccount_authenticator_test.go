package policy_test

import (
	"cmp"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

func TestServiceAccountUsers(t *testing.T) {
	w := newFixture(t)
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:ns"}
	for _, c := range readCases[[]struct {
		Bound string
		Extra map[string][]string // apart from the credential ID
	}](t, "serviceaccount/users") {
		token := w.newToken(boundTo(c.Bound))
		user, err := w.authenticate(token)
		if err != nil {
			t.Errorf("%s: %v", c.Bound, err)
			continue
		}
		want := map[string][]string{"authentication.platform.io/credential-id": {"JTI=" + claims(t, token)["jti"].(string)}}
		maps.Copy(want, c.Extra)
		if user.Name != "system:serviceaccount:ns:robot" || user.UID != "u-robot" || !reflect.DeepEqual(user.Groups, groups) || !reflect.DeepEqual(user.Extra, want) {
			t.Errorf("%s: %+v, want extra %v", c.Bound, user, want)
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

func TestForgedTokens(t *testing.T) {
	w := newFixture(t)
	publicDER, err := x509.MarshalPKIXPublicKey(&w.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	other := newECDSA(t, elliptic.P256())
	keys := map[string]any{
		"": w.key, "other": other, "longer": newECDSA(t, elliptic.P384()), "rsa": newRSA(t, 2048),
		"none": jwt.UnsafeAllowNoneSignatureType, "public der": publicDER, "public pem": publicPEM(t, &w.key.PublicKey),
	}
	whole := w.newToken(nil)
	parts := strings.Split(whole, ".")
	kid := readKeys(t, publicPEM(t, &w.key.PublicKey))[0].ID
	tests := append(readCases[[]forgedToken](t, "serviceaccount/forged", "KID", kid),
		forgedToken{Name: "alg None in odd case", Token: base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"nOnE"}`)) + "." + parts[1] + "."},
		forgedToken{Name: "embedded jwk", Key: "other", Header: claimMap{"jwk": jwk("", other)}},
		forgedToken{Name: "signature of another token", Token: parts[0] + "." + parts[1] + "." + strings.Split(w.newToken(boundTo("Node node")), ".")[2]},
		forgedToken{Name: "no signature", Token: parts[0] + "." + parts[1] + "."},
		forgedToken{Name: "more parts", Token: whole + ".x"},
		forgedToken{Name: "padded", Token: whole + "="},
		forgedToken{Name: "too long", Token: whole + strings.Repeat("x", 20000)},
		forgedToken{Name: "dots", Token: ".."},
	)
	for _, c := range tests {
		token := c.Token
		if token == "" {
			all := claims(t, w.newToken(boundTo("Pod pod")))
			changeClaims(all, c.Claims)
			if private, ok := all["platform.io"].(claimMap); ok {
				changeClaims(private, c.Private)
			}
			token = signToken(t, jwt.GetSigningMethod(cmp.Or(c.Alg, "ES256")), c.Header, all, keys[c.Key])
		}
		for range 2 { // cached results must be the same
			user, err := w.authenticate(token)
			if (user != nil) != c.Good {
				t.Errorf("%s: is taken for %v", c.Name, user)
			} else if err != nil && strings.Contains(err.Error(), parts[1]) {
				t.Errorf("%s: the error shows the token: %v", c.Name, err)
			}
		}
	}
	if user, _ := w.authenticate(""); user != nil {
		t.Error("no token is accepted")
	}
	if _, err := w.authenticate(whole); err != nil {
		t.Errorf("the good one, after all: %v", err)
	}
}

// A forgedToken describes how a token for a Pod differs from a valid one. Numbers are seconds since
// 1970. The current time is 1893553445.
type forgedToken struct {
	Name, Alg, Key          string
	Header, Claims, Private claimMap // null removes a claim
	Token                   string   // "" to sign a new one
	Good                    bool
}

func changeClaims(claims, changes claimMap) {
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
}

func TestForeignTokens(t *testing.T) {
	w := newFixture(t)
	key := newECDSA(t, elliptic.P256())
	for _, token := range []string{"", "abc", "a.b.c", signToken(t, jwt.SigningMethodES256, nil, jwt.MapClaims{"iss": "https://other"}, key)} {
		if user, err := w.authenticate(token); user != nil || err != nil {
			t.Errorf("%q: %v, %v", token, user, err)
		}
	}
}

// A revocation is a change in the cluster after which a token must be rejected, or accepted if Good
// is set.
type revocation struct {
	Name    string
	Bound   string            // bound object, for example "Pod pod"
	After   int               // seconds
	Deleted string            // key of a deleted object
	Set     map[string]object // fields of existing objects
	Good    bool
}

func (c revocation) apply(w *fixture) {
	w.now = w.now.Add(time.Duration(c.After) * time.Second)
	if c.Deleted != "" {
		w.set(w.t, c.Deleted, "")
	}
	for key, fields := range c.Set {
		changed := maps.Clone(w.objects[key].Tree)
		maps.Copy(changed, parseTree(w.t, string(fields)))
		w.set(w.t, key, canonical(changed))
	}
}

func TestTokenRevocation(t *testing.T) {
	for _, c := range readCases[[]revocation](t, "serviceaccount/revocations") {
		w := newFixture(t)
		token := w.newToken(boundTo(c.Bound))
		if _, err := w.authenticate(token); err != nil {
			t.Fatalf("%s: before: %v", c.Name, err)
		}
		c.apply(w)
		if user, err := w.authenticate(token); (user != nil && err == nil) != c.Good {
			t.Errorf("%s: %v, %v", c.Name, user, err)
		}
	}
}

func TestLegacyTokenRevocation(t *testing.T) {
	for _, c := range readCases[[]revocation](t, "serviceaccount/legacy-revocations") {
		for _, lookup := range []bool{false, true} {
			w := newFixture(t)
			w.Lookup = lookup
			token := w.newLegacyToken("old")
			if _, err := w.authenticate(token); err != nil {
				t.Fatalf("%s: before: %v", c.Name, err)
			}
			c.apply(w)
			if user, err := w.authenticate(token); (user != nil && err == nil) != (c.Good || !lookup) {
				t.Errorf("%s (lookup %t): %v, %v", c.Name, lookup, user, err)
			}
		}
	}
}

func TestLegacyTokenUse(t *testing.T) {
	for labels, want := range map[string]string{
		`{}`: "ns/old",
		`{"platform.io/legacy-token-last-used":"2030-01-01"}`:     "ns/old",
		`{"platform.io/legacy-token-last-used":"2030-01-02"}`:     "",
		`{"platform.io/legacy-token-last-used":"2030-01-03"}`:     "", // recorded by a server whose clock is ahead
		`{"platform.io/legacy-token-invalid-since":"2001-02-03"}`: "ns/old",
	} {
		w := newFixture(t)
		var used []string
		w.Lookup, w.LegacyTokenUsed = true, func(namespace, name string) { used = append(used, namespace+"/"+name) }
		token := w.newLegacyToken("old")
		revocation{Set: map[string]object{"secrets ns/old": object(`{"metadata":{"labels":` + labels + `}}`)}}.apply(w)
		_, _ = w.authenticate(token)
		if strings.Join(used, " ") != want {
			t.Errorf("%s: recorded %v", labels, used)
		}
	}
}

func TestServiceAccountAudiences(t *testing.T) {
	w := newFixture(t)
	tokens := map[string]string{
		"both": w.newToken(tree.Tree{"audiences": []any{"api-too", "vault"}}), "foreign": w.newToken(tree.Tree{"audiences": []any{"vault"}}), "legacy": w.newLegacyToken("old"),
	}
	for _, c := range readCases[[]struct {
		Token       string
		Asked, Want []string // Want is nil for a rejected token
	}](t, "serviceaccount/audiences") {
		user, err := w.authenticate(tokens[c.Token], c.Asked...)
		var got []string
		if user != nil {
			got = user.Audiences
		}
		if !reflect.DeepEqual(got, c.Want) || (err == nil) != (c.Want != nil) {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

var benchToken *authn.User

func BenchmarkCachedToken(b *testing.B) {
	w := newFixture(b)
	token := w.newToken(boundTo("Pod pod"))
	for b.Loop() {
		benchToken, _ = w.authenticate(token)
	}
}
