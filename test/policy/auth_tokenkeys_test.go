package policy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// keySet checks that the published keys verify a token and do not include private keys.
func keySet(t *testing.T, r tokenCluster) {
	a := r.do("root", "GET", "/.well-known/openid-configuration", "")
	r.want("configuration", a, 200, `"issuer":"`+ownToken+`"`, `"jwks_uri":"`+r.URL+`/openid/v1/jwks"`, `"id_token_signing_alg_values_supported":["ES256"]`)
	if got := a.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("the configuration is %s", got)
	}
	a = r.do("", "GET", "/openid/v1/jwks", "", "Authorization: Bearer "+r.token(`{}`)) // every service account may read it
	if got := a.Header.Get("Content-Type"); a.Code != 200 || got != "application/jwk-set+json" {
		t.Fatalf("%s: %s", got, a)
	}
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(a.Body, &set); err != nil || len(set.Keys) != 1 {
		t.Fatal(err, a)
	}
	k := set.Keys[0]
	if _, ok := k["d"]; ok || k["kty"] != "EC" || k["use"] != "sig" {
		t.Fatalf("%v", k)
	}
	point := []byte{4}
	for _, name := range []string{"x", "y"} {
		b, err := base64.RawURLEncoding.DecodeString(k[name])
		if err != nil {
			t.Fatal(err)
		}
		point = append(point, b...)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	token := r.token(`{}`)
	dot := strings.LastIndex(token, ".")
	signature, err := base64.RawURLEncoding.DecodeString(token[dot+1:])
	if err != nil || len(signature) != 64 {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(token[:dot]))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the published key does not verify the token")
	}
	header, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0])
	if err != nil || string(header) != `{"alg":"ES256","kid":"`+k["kid"]+`"}` {
		t.Errorf("header %s, %v; key %s", header, err, k["kid"])
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if id := sha256.Sum256(der); err != nil || k["kid"] != base64.RawURLEncoding.EncodeToString(id[:]) {
		t.Errorf("kid %s", k["kid"])
	}
}

// TestTokenKeysRotate checks that tokens with a previous key and issuer stay valid while both are
// still configured.
func TestTokenKeysRotate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := func(file string) string { return filepath.Join(dir, file) }
	for _, file := range []string{"one.pem", "two.pem"} {
		client.WriteFile(t, name(file), pki.KeyPEM(t, pki.NewKey(t)))
	}
	serve := func(key string, keys []string, issuers ...string) tokenCluster {
		s := client.Serve(t, name("data"), func(c *daemon.Config) {
			c.ServiceAccounts.SigningKeyFile, c.ServiceAccounts.KeyFiles, c.ServiceAccounts.Issuers = name(key), keys, issuers
			c.ServiceAccounts.APIAudiences = []string{"api"}
			c.ServiceAccounts.MaxTokenExpiration = daemon.Duration(time.Hour)
		})
		return tokenCluster{&userCluster{Server: s, t: t, dir: dir, transport: client.Transport(t, s.Anonymous())}}
	}
	r := serve("one.pem", nil, "https://one")
	create := func(r tokenCluster, path, body string) client.Answer {
		a, err := r.Create(t.Context(), path, []byte(body))
		if err != nil || a.Code != 201 {
			t.Fatal(err, a)
		}
		return a
	}
	create(r, core+"serviceaccounts", `{"metadata":{"name":"robot"}}`)
	ask := func(r tokenCluster, spec string) (string, client.Answer) {
		a := create(r, robot+"/token", `{"spec":`+spec+`}`)
		return a.Object()["status"].(map[string]any)["token"].(string), a
	}
	first, a := ask(r, `{"expirationSeconds":7200}`)
	if got := a.Header.Get("Warning"); !strings.Contains(got, "requested expiration of 7200 seconds shortened to 3600 seconds") {
		t.Errorf("warning %q", got)
	}
	expected := func(token string) string { return r.reviewSelf(token).Object().String() }
	if got := expected(first); !strings.Contains(got, "system:serviceaccount:default:robot") {
		t.Errorf("first: %s", got)
	}
	r.Stop(t)

	r = serve("two.pem", []string{name("one.pem")}, "https://two", "https://one")
	second, _ := ask(r, `{}`)
	if iss := claimsOf(t, second)["iss"]; iss != "https://two" {
		t.Errorf("issuer %v", iss)
	}
	for _, token := range []string{first, second} {
		if got := expected(token); !strings.Contains(got, "system:serviceaccount:default:robot") {
			t.Errorf("after the change of keys: %s", got)
		}
	}
	if a, err := r.Get(t.Context(), "/openid/v1/jwks"); err != nil || strings.Count(string(a.Body), `"kid"`) != 2 {
		t.Errorf("keys: %s, %v", a, err)
	}
	r.Stop(t)

	r = serve("two.pem", nil, "https://two", "https://one")
	r.expectCode("of a key that is no longer named", first, 401)
	if got := expected(second); !strings.Contains(got, "system:serviceaccount:default:robot") {
		t.Errorf("of the present key: %s", got)
	}
	r.Stop(t)
	r = serve("two.pem", []string{name("one.pem")}, "https://two")
	r.expectCode("of an issuer that is no longer named", first, 401)
}
