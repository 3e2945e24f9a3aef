package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// staticUser is whom the static token stands for.
const staticUser = "bench-static"

// Identity makes credentials that a server accepts: client certificates of a CA, and one static
// token.
type Identity struct {
	authority *x509.Certificate
	key       any // of the authority
	token     string
	dir       string // with the files for a server, if they were made here
	serial    atomic.Int64
}

// newIdentity makes a CA and a token, and writes the files that a server reads into dir.
func newIdentity(dir string) (*Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "bench-ca"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	authority, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	i := &Identity{authority: authority, key: key, token: "bench." + rand.Text(), dir: dir}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(i.authorityFile(), text, 0o600); err != nil {
		return nil, err
	}
	return i, os.WriteFile(i.tokenFile(), fmt.Appendf(nil, "%s,%s,1\n", i.token, staticUser), 0o600)
}

// loadIdentity takes what a server that runs already accepts; nil if nothing is named.
func loadIdentity(caFile, keyFile, token string) (*Identity, error) {
	if caFile == "" && token == "" {
		return nil, nil
	}
	i := &Identity{token: token}
	if caFile == "" {
		return i, nil
	}
	pair, err := tls.LoadX509KeyPair(caFile, keyFile)
	if err != nil {
		return nil, err
	}
	i.authority, i.key = pair.Leaf, pair.PrivateKey
	return i, nil
}

func (i *Identity) authorityFile() string { return filepath.Join(i.dir, "users.crt") }
func (i *Identity) tokenFile() string     { return filepath.Join(i.dir, "tokens.csv") }

// args make a daemon accept the credentials.
func (i *Identity) args() []string {
	return []string{"--client-ca-file", i.authorityFile(), "--token-auth-file", i.tokenFile()}
}

// certificates tells whether there is a CA to make them with.
func (i *Identity) certificates() bool { return i != nil && i.authority != nil }

// certificate makes a client certificate for a user without groups.
func (i *Identity) certificate(user string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano() + i.serial.Add(1)),
		Subject:      pkix.Name{CommonName: user},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(12 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.authority, &key.PublicKey, i.key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// as is the target for the bearer of a certificate, or of a token; the other one is nil or empty.
func (t *Target) as(certificate *tls.Certificate, token string) *Target {
	other := *t
	other.TLS, other.Token = t.TLS.Clone(), token
	other.TLS.Certificates = nil
	if certificate != nil {
		other.TLS.Certificates = []tls.Certificate{*certificate}
	}
	return &other
}
