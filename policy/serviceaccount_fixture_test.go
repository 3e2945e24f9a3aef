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
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

const issuer, audience = "https://issuer", "https://api"

var startTime = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// A fixture holds objects, keys, a clock, an issuer and an authenticator.
type fixture struct {
	t       testing.TB
	naming  *meta.Naming
	now     time.Time
	objects map[meta.Key]*policy.Object
	key     *ecdsa.PrivateKey
	handler *serviceaccount.TokenRequestHandler
	issuer  *serviceaccount.Issuer
	*serviceaccount.Authenticator
	requestKind *schema.Kind
}

var platformCatalog = sync.OnceValues(func() (*catalog.Catalog, error) { return catalog.New(meta.Platform) })

func newFixture(t testing.TB) *fixture {
	t.Helper()
	kinds, err := platformCatalog()
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, naming: meta.Platform, now: startTime, objects: map[meta.Key]*policy.Object{}}
	w.requestKind = kinds.ByGVK(meta.GroupVersionKind{Group: "authentication.platform.io", Version: "v1", Kind: "TokenRequest"})
	w.key = newECDSA(t, elliptic.P256())
	keys := readKeys(t, privatePEM(t, w.key))
	if w.issuer, err = serviceaccount.NewIssuer(w.naming, issuer, keys[0]); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return w.now }
	w.handler = &serviceaccount.TokenRequestHandler{Issuer: w.issuer, Objects: w, Audiences: []string{audience}, ExtendExpiration: true, Now: clock}
	w.Authenticator = serviceaccount.New(serviceaccount.Options{
		Naming: w.naming, Issuers: []string{issuer, "https://older"}, Keys: keys, Audiences: []string{audience, "api-too"},
		Lookup: true, Objects: w, Now: clock,
	})
	w.putObject("serviceaccounts", "ns", "robot", "u-robot", nil)
	w.putObject("pods", "ns", "pod", "u-pod", tree.Tree{"spec": tree.Tree{"serviceAccountName": "robot", "nodeName": "node"}})
	w.putObject("nodes", "", "node", "u-node", nil)
	w.putObject("secrets", "ns", "secret", "u-secret", nil)
	return w
}

func key(resource, namespace, name string) meta.Key {
	return meta.Key{GroupResource: meta.GroupResource{Resource: resource}, Namespace: namespace, Name: name}
}

func (w *fixture) putObject(resource, namespace, name, uid string, object tree.Tree) {
	k := key(resource, namespace, name)
	w.objects[k] = &policy.Object{Key: k, Meta: meta.ObjectMeta{UID: uid}, Tree: object}
}

// terminate sets the deletion time of an object.
func (w *fixture) terminate(resource, namespace, name string, at time.Time) {
	o := w.objects[key(resource, namespace, name)]
	o.Meta.Terminating = true
	o.Tree = tree.Tree{"metadata": tree.Tree{"deletionTimestamp": at.Format(time.RFC3339)}}
}

func (w *fixture) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	return w.objects[meta.Key{GroupResource: r, Namespace: namespace, Name: name}]
}

func (w *fixture) GetMeta(r meta.GroupResource, namespace, name string) (meta.ObjectMeta, bool) {
	o := w.Get(r, namespace, name)
	if o == nil {
		return meta.ObjectMeta{}, false
	}
	return o.Meta, true
}

// requestToken sends a TokenRequest for the account robot.
func (w *fixture) requestToken(request tree.Tree) (answer tree.Tree, warnings []string, err error) {
	r := serviceaccount.TokenRequest{Kind: w.requestKind, Key: key("serviceaccounts", "ns", "robot"), Object: request, Manager: "test"}
	if err = w.handler.Complete(r); err == nil {
		warnings, err = w.handler.CreateToken(r)
	}
	return request, warnings, err
}

// newToken returns the token of a TokenRequest with a spec.
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

// newLegacyToken returns a token that is stored in a Secret.
func (w *fixture) newLegacyToken(secret string) string {
	w.t.Helper()
	token, err := w.issuer.SignLegacy(serviceaccount.Account{Namespace: "ns", Name: "robot", UID: "u-robot"}, secret)
	if err != nil {
		w.t.Fatal(err)
	}
	w.putObject("secrets", "ns", secret, "u-"+secret, tree.Tree{
		"type": "platform.io/service-account-token",
		"data": tree.Tree{"token": base64.StdEncoding.EncodeToString([]byte(token))},
	})
	return token
}

// authenticate returns the user of a token.
func (w *fixture) authenticate(token string, audiences ...string) (*authn.User, error) {
	return w.Authenticate(authn.Request{Token: token, HasToken: true, Audiences: audiences})
}

func boundObjectSpec(kind, name, uid string) tree.Tree {
	return tree.Tree{"boundObjectRef": tree.Tree{"kind": kind, "apiVersion": "v1", "name": name, "uid": uid}}
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
