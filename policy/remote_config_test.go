package policy_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/remote"
)

func pair(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}

func TestClientCertificate(t *testing.T) {
	var seen atomic.Value
	where, authority := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Store("")
		if len(r.TLS.PeerCertificates) > 0 {
			seen.Store(r.TLS.PeerCertificates[0].Subject.CommonName)
		}
		w.Header().Set("Connection", "close")
	})
	cluster := fmt.Sprintf(`server: "%s", certificate-authority-data: %s`, where, authority)
	ask := func(s *remote.Client, want string) {
		t.Helper()
		if _, err := s.Post(context.Background(), nil); err != nil || seen.Load() != want {
			t.Errorf("seen %q, want %q: %v", seen.Load(), want, err)
		}
	}
	cert, key := pair(t, "inline")
	ask(load(t, writeKubeconfig(t, cluster, fmt.Sprintf("client-certificate-data: %s, client-key-data: %s",
		base64.StdEncoding.EncodeToString(cert), base64.StdEncoding.EncodeToString(key)))), "inline")
	ask(load(t, writeKubeconfig(t, cluster, "")), "")

	path := writeKubeconfig(t, cluster, "client-certificate: me.crt, client-key: me.key")
	put := func(name string) {
		cert, key := pair(t, name)
		for file, text := range map[string][]byte{"me.crt": cert, "me.key": key} {
			writeFile(t, filepath.Dir(path), file, string(text))
		}
	}
	put("first")
	s := load(t, path)
	ask(s, "first")
	put("second")
	ask(s, "second")
}

func TestLoadWithoutContext(t *testing.T) {
	var credential atomic.Value
	where, authority := serve(t, func(_ http.ResponseWriter, r *http.Request) { credential.Store(r.Header.Get("Authorization")) })
	path := writeFile(t, t.TempDir(), "f", fmt.Sprintf("clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]\nusers: [{name: u, user: {token: t}}]", where, authority))
	if _, err := load(t, path).Post(context.Background(), nil); err != nil || credential.Load() != "Bearer t" {
		t.Errorf("credential %q, %v", credential.Load(), err)
	}
}
