package policy_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

const issuer, audience = "https://issuer", "https://api"

var startTime = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

type fixture struct {
	*fakeCluster
	*serviceaccount.Authenticator
	t           testing.TB
	now         time.Time
	key         *ecdsa.PrivateKey
	handler     *serviceaccount.TokenRequestHandler
	issuer      *serviceaccount.Issuer
	requestKind *schema.Kind
}

var platformCatalog = sync.OnceValues(func() (*catalog.Catalog, error) { return catalog.New(meta.Platform) })

func newFixture(t testing.TB) *fixture {
	t.Helper()
	kinds, err := platformCatalog()
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, now: startTime, fakeCluster: newCluster(t, nil)}
	w.requestKind = kinds.ByGVK(meta.GroupVersionKind{Group: "authentication.platform.io", Version: "v1", Kind: "TokenRequest"})
	w.key = newECDSA(t, elliptic.P256())
	keys := readKeys(t, privatePEM(t, w.key))
	if w.issuer, err = serviceaccount.NewIssuer(meta.Platform, issuer, keys[0]); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return w.now }
	w.handler = &serviceaccount.TokenRequestHandler{Issuer: w.issuer, Objects: w, Audiences: []string{audience}, ExtendExpiration: true, Now: clock}
	w.Authenticator = serviceaccount.New(serviceaccount.Options{
		Naming: meta.Platform, Issuers: []string{issuer, "https://older"}, Keys: keys, Audiences: []string{audience, "api-too"},
		Lookup: true, Objects: w, Now: clock,
	})
	for key, text := range map[string]string{
		"serviceaccounts ns/robot": `{"metadata":{"uid":"u-robot"}}`,
		"pods ns/pod":              `{"metadata":{"uid":"u-pod"},"spec":{"serviceAccountName":"robot","nodeName":"node"}}`,
		"nodes /node":              `{"metadata":{"uid":"u-node"}}`,
		"secrets ns/secret":        `{"metadata":{"uid":"u-secret"}}`,
	} {
		w.set(t, key, text)
	}
	return w
}

func (w *fixture) requestToken(request tree.Tree) (answer tree.Tree, warnings []string, err error) {
	r := serviceaccount.TokenRequest{Kind: w.requestKind, Key: meta.Key{GroupResource: meta.GroupResource{Resource: "serviceaccounts"}, Namespace: "ns", Name: "robot"}, Object: request, Manager: "test"}
	if err = w.handler.Complete(r); err == nil {
		warnings, err = w.handler.CreateToken(r)
	}
	return request, warnings, err
}

func (w *fixture) newToken(spec tree.Tree) string {
	w.t.Helper()
	if spec == nil {
		spec = tree.Tree{}
	}
	answer, _, err := w.requestToken(tree.Tree{"spec": spec})
	if err != nil {
		w.t.Fatal(err)
	}
	return answer["status"].(tree.Tree)["token"].(string)
}

func (w *fixture) newLegacyToken(secret string) string {
	w.t.Helper()
	token, err := w.issuer.SignLegacy(serviceaccount.Account{Namespace: "ns", Name: "robot", UID: "u-robot"}, secret)
	if err != nil {
		w.t.Fatal(err)
	}
	w.set(w.t, "secrets ns/"+secret, `{"metadata":{"uid":"u-`+secret+`"},"type":"platform.io/service-account-token","data":{"token":"`+base64.StdEncoding.EncodeToString([]byte(token))+`"}}`)
	return token
}

func (w *fixture) authenticate(token string, audiences ...string) (*authn.User, error) {
	return w.Authenticate(authn.Request{Token: token, HasToken: true, Audiences: audiences})
}

// boundTo returns the spec of a TokenRequest bound to an object, given as "Kind name". An empty
// object binds the token only to the account.
func boundTo(object string) tree.Tree {
	kind, name, ok := strings.Cut(object, " ")
	if !ok {
		return tree.Tree{}
	}
	return tree.Tree{"boundObjectRef": tree.Tree{"kind": kind, "apiVersion": "v1", "name": name}}
}

func newECDSA(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newRSA(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func privatePEM(t testing.TB, k crypto.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func publicPEM(t testing.TB, k crypto.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func readKeys(t testing.TB, text []byte) []*serviceaccount.Key {
	t.Helper()
	keys, err := serviceaccount.ReadKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
