package policy

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/troupe-api/troupe/cmd/troupe/daemon"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

const (
	securityAccounts = "/api/v1/namespaces/default/serviceaccounts"
	selfPath         = "/apis/authentication.platform.io/v1/selfsubjectreviews"
)

// A tokenForger signs modified service account tokens, by default with the daemon's key.
type tokenForger struct {
	t      *testing.T
	key    *ecdsa.PrivateKey
	header map[string]any // of a token signed by the daemon
	claims jwt.MapClaims
}

// newTokenForger copies the header and claims of a token signed by the daemon.
func newTokenForger(t *testing.T, key *ecdsa.PrivateKey, token string) *tokenForger {
	t.Helper()
	m := &tokenForger{t: t, key: key}
	for i, part := range []any{&m.header, &m.claims} {
		text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[i])
		if err != nil {
			t.Fatal(err)
		}
		client.Decode(t, text, part)
	}
	return m
}

// sign returns a token with changed header fields and claims. It removes those whose new value is
// nil. Changes to the claim "platform.io", an object, are merged.
func (m *tokenForger) sign(method jwt.SigningMethod, key any, header, changes map[string]any) string {
	m.t.Helper()
	edit := func(of map[string]any, by map[string]any) map[string]any {
		of = maps.Clone(of)
		for name, value := range by {
			if of[name] = value; value == nil {
				delete(of, name)
			}
		}
		return of
	}
	if own, ok := changes["platform.io"].(map[string]any); ok {
		changes = maps.Clone(changes)
		changes["platform.io"] = edit(m.claims["platform.io"].(map[string]any), own)
	}
	token := jwt.NewWithClaims(method, jwt.MapClaims(edit(m.claims, changes)))
	token.Header = edit(edit(m.header, map[string]any{"alg": method.Alg()}), header)
	text, err := token.SignedString(key)
	if err != nil {
		m.t.Fatal(err)
	}
	return text
}

// TestForgedAccountTokens checks that a token is accepted only with the daemon's signature, the
// server's audience, and a current validity period. Its service account and bound object must not
// have been replaced.
func TestForgedAccountTokens(t *testing.T) {
	key, foreign := pki.NewKey(t), pki.NewKey(t)
	file := filepath.Join(t.TempDir(), "sa.key")
	client.WriteFile(t, file, pki.KeyPEM(t, key))
	v := start(t, func(c *daemon.Config) { c.ServiceAccounts.SigningKeyFile = file })
	v.must(201, "POST", securityAccounts, typeJSON, `{"metadata":{"name":"robot"}}`)
	m := newTokenForger(t, key, v.accountToken("robot", `{}`))
	review := func(token string) (int, string) { return v.bearer(token, "POST", selfPath, typeJSON, "{}") }
	es := jwt.SigningMethodES256
	signed := func(changes map[string]any) string { return m.sign(es, key, nil, changes) }
	below := func(changes map[string]any) string { return signed(map[string]any{"platform.io": changes}) }
	at := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	good := signed(nil)
	if code, text := review(good); code != 201 || !strings.Contains(text, `"system:serviceaccount:default:robot"`) {
		t.Fatalf("a good token: %d %s", code, text)
	}
	// Claims cannot set groups or another user name.
	if code, text := review(signed(map[string]any{"groups": []string{"system:masters"}, "username": "admin", "extra": "x"})); code != 201 ||
		strings.Contains(text, "masters") || strings.Contains(text, "admin") {
		t.Errorf("with groups: %d %s", code, text)
	}
	pkix, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pkix})
	point, err := foreign.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	embedded := map[string]any{"kty": "EC", "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:]), "kid": "e"}
	none := jwt.UnsafeAllowNoneSignatureType
	parts, joe := strings.Split(good, "."), strings.Split(signed(map[string]any{"jti": "joe"}), ".")
	hidden := []string{parts[1], parts[2]}
	for name, token := range map[string]string{
		"alg none":                   m.sign(jwt.SigningMethodNone, none, nil, nil),
		"alg none, in another case":  m.sign(jwt.SigningMethodNone, none, map[string]any{"alg": "nOnE"}, nil),
		"no alg":                     m.sign(es, key, map[string]any{"alg": nil}, nil),
		"alg swapped, PEM":           m.sign(jwt.SigningMethodHS256, public, nil, nil),
		"alg swapped, DER":           m.sign(jwt.SigningMethodHS256, pkix, nil, nil),
		"alg of another curve":       m.sign(es, key, map[string]any{"alg": "ES384"}, nil),
		"alg of another sort":        m.sign(es, key, map[string]any{"alg": "RS256"}, nil),
		"no signature":               parts[0] + "." + parts[1] + ".",
		"a signature of zeros":       parts[0] + "." + parts[1] + "." + encode(make([]byte, 64)),
		"another's signature":        parts[0] + "." + parts[1] + "." + joe[2],
		"another's claims":           parts[0] + "." + joe[1] + "." + parts[2],
		"a fourth part":              good + ".x",
		"padded":                     good + "==",
		"a foreign key":              m.sign(es, foreign, nil, nil),
		"a foreign key, named":       m.sign(es, foreign, map[string]any{"kid": "e"}, nil),
		"an embedded key":            m.sign(es, foreign, map[string]any{"jwk": embedded, "kid": "e"}, nil),
		"an embedded address":        m.sign(es, foreign, map[string]any{"jku": "https://127.0.0.1/k", "x5u": "https://127.0.0.1/k"}, nil),
		"an embedded certificate":    m.sign(es, foreign, map[string]any{"x5c": []string{"eA=="}}, nil),
		"a path as key":              m.sign(jwt.SigningMethodHS256, []byte{}, map[string]any{"kid": "../../dev/null"}, nil),
		"an extension":               m.sign(es, key, map[string]any{"crit": []string{"exp"}}, nil),
		"another issuer":             signed(map[string]any{"iss": "https://evil.example"}),
		"the issuer of old tokens":   signed(map[string]any{"iss": "platform/serviceaccount"}),
		"two issuers":                signed(map[string]any{"iss": []any{m.claims["iss"], "x"}}),
		"no issuer":                  signed(map[string]any{"iss": nil}),
		"another audience":           signed(map[string]any{"aud": "vault"}),
		"an audience that begins so": signed(map[string]any{"aud": []string{m.claims["iss"].(string) + ".evil"}}),
		"no audience":                signed(map[string]any{"aud": nil}),
		"empty audiences":            signed(map[string]any{"aud": []string{}}),
		"an audience of a number":    signed(map[string]any{"aud": 1}),
		"expired":                    signed(map[string]any{"exp": at(-2 * time.Minute)}),
		"no expiry":                  signed(map[string]any{"exp": nil}),
		"an expiry of a text":        signed(map[string]any{"exp": "never"}),
		"an expiry beyond time":      signed(map[string]any{"exp": -1e18}),
		"not yet valid":              signed(map[string]any{"nbf": at(10 * time.Minute)}),
		"not yet issued":             signed(map[string]any{"iat": at(10 * time.Minute)}),
		"another subject":            signed(map[string]any{"sub": "admin"}),
		"no subject":                 signed(map[string]any{"sub": nil}),
		"another account":            below(map[string]any{"serviceaccount": map[string]any{"name": "default", "uid": "x"}}),
		"another namespace":          below(map[string]any{"namespace": "platform-system"}),
		"no uid":                     below(map[string]any{"serviceaccount": map[string]any{"name": "robot"}}),
		"another uid":                below(map[string]any{"serviceaccount": map[string]any{"name": "robot", "uid": "x"}}),
		"nobody":                     below(map[string]any{"serviceaccount": nil}),
		"nothing":                    signed(map[string]any{"platform.io": nil}),
		"an account that is none": m.sign(es, key, nil, map[string]any{"sub": "system:serviceaccount:default:none",
			"platform.io": map[string]any{"serviceaccount": map[string]any{"name": "none", "uid": "x"}}}),
		"a Pod that is none":    below(map[string]any{"pod": map[string]any{"name": "none", "uid": "x"}}),
		"a Secret that is none": below(map[string]any{"secret": map[string]any{"name": "none", "uid": "x"}}),
		"a node that is none":   below(map[string]any{"node": map[string]any{"name": "none", "uid": "x"}}),
		"of a Pod without uid":  below(map[string]any{"pod": map[string]any{"name": ""}}),
	} {
		for range 2 { // the second result is cached
			if code, text := review(token); code != 401 {
				t.Errorf("%s: %d, want 401: %s", name, code, text)
			}
		}
		if signature := token[strings.LastIndexByte(token, '.')+1:]; len(signature) > 20 {
			hidden = append(hidden, signature)
		}
	}
	v.expectNotDisclosed(hidden...)
}

func (v *testServer) accountToken(name, spec string) string {
	v.t.Helper()
	var request struct{ Status struct{ Token string } }
	text := v.must(201, "POST", securityAccounts+"/"+name+"/token", typeJSON, `{"spec":`+spec+`}`)
	if err := json.Unmarshal([]byte(text), &request); err != nil || request.Status.Token == "" {
		v.t.Fatalf("no token: %v %s", err, text)
	}
	return request.Status.Token
}

// TestRevokedAccountTokens checks that a token is invalid once its bound object is deleted, even if
// the object is recreated.
func TestRevokedAccountTokens(t *testing.T) {
	v := start(t)
	const core = "/api/v1/namespaces/default/"
	v.must(201, "POST", securityAccounts, typeJSON, `{"metadata":{"name":"robot"}}`)
	bound := func(kind, name string) string {
		return `{"boundObjectRef":{"kind":"` + kind + `","apiVersion":"v1","name":"` + name + `"}}`
	}
	for _, test := range []struct{ kind, path, body, spec string }{
		{"Pod", core + "pods", `{"metadata":{"name":"x"},"spec":{"serviceAccountName":"robot","containers":[{"name":"c","image":"i"}]}}`, bound("Pod", "x")},
		{"Secret", core + "secrets", `{"metadata":{"name":"x"}}`, bound("Secret", "x")},
		{"Node", "/api/v1/nodes", `{"metadata":{"name":"x"}}`, bound("Node", "x")},
		{"account", securityAccounts, `{"metadata":{"name":"x"}}`, `{}`},
	} {
		v.must(201, "POST", test.path, typeJSON, test.body)
		account := "robot"
		if test.kind == "account" {
			account = "x"
		}
		token := v.accountToken(account, test.spec)
		check := func(when string, want int) {
			t.Helper()
			for range 2 {
				if code, text := v.bearer(token, "POST", selfPath, typeJSON, "{}"); code != want {
					t.Errorf("a token of a %s, %s: %d, want %d: %s", test.kind, when, code, want, text)
				}
			}
		}
		check("there", 201)
		v.must(200, "DELETE", test.path+"/x?gracePeriodSeconds=0", "", "")
		check("gone", 401)
		v.must(201, "POST", test.path, typeJSON, test.body)
		check("with another of that name", 401)
	}
}
