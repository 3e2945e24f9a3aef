package server

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

// StaticUser is whom the static token stands for.
const StaticUser = "bench-static"

// Identity makes credentials that a server accepts: client certificates of a CA, and one static token. It
// may be nil, where a server runs already and no credentials were given.
type Identity struct {
	authority *x509.Certificate
	key       any // of the authority
	Token     string
	Dir       string // with the files for a server, if they were made here
	serial    atomic.Int64
}

// NewIdentity makes a CA and a token, and writes the files that a server reads into dir. It is good for a
// day, which is longer than any run.
func NewIdentity(dir string) (*Identity, error) {
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
	i := &Identity{authority: authority, key: key, Token: "bench." + rand.Text(), Dir: dir}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(i.AuthorityFile(), text, 0o600); err != nil {
		return nil, err
	}
	return i, os.WriteFile(i.TokenFile(), fmt.Appendf(nil, "%s,%s,1\n", i.Token, StaticUser), 0o600)
}

// LoadIdentity takes what a server that runs already accepts; nil if nothing is named.
func LoadIdentity(caFile, keyFile, token string) (*Identity, error) {
	if caFile == "" && token == "" {
		return nil, nil
	}
	i := &Identity{Token: token}
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

// AuthorityFile is the path of the CA of client certificates, as a PEM file.
func (i *Identity) AuthorityFile() string { return filepath.Join(i.Dir, "users.crt") }

// TokenFile is the path of the file of static tokens.
func (i *Identity) TokenFile() string { return filepath.Join(i.Dir, "tokens.csv") }

// Args make a daemon accept the credentials.
func (i *Identity) Args() []string {
	return []string{"--client-ca-file", i.AuthorityFile(), "--token-auth-file", i.TokenFile()}
}

// Certificates tells whether there is a CA to make them with.
func (i *Identity) Certificates() bool { return i != nil && i.authority != nil }

// Certificate makes a client certificate for a user in some groups. Serial numbers differ, also between
// runs on one server, which may remember certificates by them.
func (i *Identity) Certificate(user string, groups ...string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano() + i.serial.Add(1)),
		Subject:      pkix.Name{CommonName: user, Organization: groups},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(12 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.authority, &key.PublicKey, i.key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// As is the target for the bearer of a certificate, or of a token; the other one is nil or empty.
func (t *Target) As(certificate *tls.Certificate, token string) *Target {
	other := *t
	other.TLS, other.Token = t.TLS.Clone(), token
	other.TLS.Certificates = nil
	if certificate != nil {
		other.TLS.Certificates = []tls.Certificate{*certificate}
	}
	return &other
}
