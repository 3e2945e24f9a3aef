package policy_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

func TestReadKeys(t *testing.T) {
	curve, long, rsa := newECDSA(t, elliptic.P256()), newECDSA(t, elliptic.P521()), newRSA(t, 2048)
	sec1, err := x509.MarshalECPrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, der []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text []byte
		want string // one letter per key, upper case if it signs, or a part of the error
	}{
		"PKCS #8":           {privatePEM(t, curve), "K"},
		"SEC 1":             {block("EC PRIVATE KEY", sec1), "K"},
		"PKCS #1":           {block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsa)), "K"},
		"PKCS #1, public":   {block("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&rsa.PublicKey)), "k"},
		"public":            {publicPEM(t, &curve.PublicKey), "k"},
		"several":           {bytes.Join([][]byte{publicPEM(t, &rsa.PublicKey), privatePEM(t, curve), publicPEM(t, &long.PublicKey)}, []byte("\n# next\n")), "kKk"},
		"other blocks":      {append(block("EC PARAMETERS", []byte{6, 1, 1}), privatePEM(t, curve)...), "K"},
		"none":              {[]byte("hello"), "has no PEM block with a key"},
		"short":             {privatePEM(t, newRSA(t, 1024)), "an RSA key of 1024 bits is too short"},
		"of another sort":   {privatePEM(t, edwards), "neither an RSA nor an ECDSA key"},
		"broken":            {block("PUBLIC KEY", []byte("x")), "PEM block 1 (PUBLIC KEY): "},
		"of another length": {privatePEM(t, newECDSA(t, elliptic.P224())), "P-224 is not supported"},
	} {
		keys, err := serviceaccount.ReadKeys(c.text)
		var got strings.Builder
		for _, k := range keys {
			got.WriteByte("kK"[map[bool]int{true: 1}[k.Signs()]])
		}
		if err != nil {
			got.WriteString(err.Error())
		}
		if !strings.Contains(got.String(), c.want) || err == nil && got.String() != c.want {
			t.Errorf("%s: %s, want %s", name, &got, c.want)
		}
	}
	if _, err := serviceaccount.NewIssuer(meta.Platform, issuer, readKeys(t, publicPEM(t, &curve.PublicKey))[0]); err == nil {
		t.Error("a public key signs")
	}
	if a, b := readKeys(t, privatePEM(t, rsa))[0].ID, readKeys(t, publicPEM(t, &rsa.PublicKey))[0].ID; a != b || len(a) != 43 {
		t.Errorf("ids %s and %s of one key", a, b)
	}
}

func TestNewKey(t *testing.T) {
	text, err := serviceaccount.NewKey()
	if err != nil || !readKeys(t, text)[0].Signs() {
		t.Fatal(err)
	}
	if again, _ := serviceaccount.NewKey(); bytes.Equal(text, again) {
		t.Error("twice the same key")
	}
}

func TestDiscoveryDocuments(t *testing.T) {
	rsa, long := newRSA(t, 2048), newECDSA(t, elliptic.P521())
	keys := append(readKeys(t, privatePEM(t, rsa)), readKeys(t, privatePEM(t, long))...)
	text, err := serviceaccount.KeySet(keys)
	if err != nil {
		t.Fatal(err)
	}
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(text, &set); err != nil || len(set.Keys) != 2 {
		t.Fatalf("%s, %v", text, err)
	}
	for i, want := range []map[string]int{
		{"use": 3, "kty": 3, "kid": 43, "alg": 5, "n": 342, "e": 4},
		{"use": 3, "kty": 2, "kid": 43, "alg": 5, "crv": 5, "x": 88, "y": 88}, // lengths of the members; leading zeros are kept
	} {
		for name, length := range want {
			if len(set.Keys[i][name]) != length {
				t.Errorf("%s of key %d: %q, want %d letters", name, i, set.Keys[i][name], length)
			}
		}
		if len(set.Keys[i]) != len(want) {
			t.Errorf("key %d: %v", i, set.Keys[i])
		}
	}
	if set.Keys[0]["e"] != "AQAB" || set.Keys[0]["alg"] != "RS256" || set.Keys[1]["alg"] != "ES512" || set.Keys[1]["crv"] != "P-521" {
		t.Errorf("%s", text)
	}
	text, err = serviceaccount.DiscoveryDocument("https://i", "https://k", keys)
	const want = `{"issuer":"https://i","jwks_uri":"https://k","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES512","RS256"]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	for url, ok := range map[string]bool{
		"https://a": true, "https://a/b": true, "http://a": false, "a": false, "": false, "https://": false, "https://a?b": false, "https://a#b": false,
	} {
		if serviceaccount.Discoverable(url) != ok {
			t.Errorf("%q: %t", url, !ok)
		}
	}
}
