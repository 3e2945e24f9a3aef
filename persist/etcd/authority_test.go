package etcd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

type authority struct {
	file string // file of its own certificate

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t: t, file: filepath.Join(t.TempDir(), "ca.crt")}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "etcd-ca"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert, a.key = template, a.newKey()
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err == nil {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err = errors.Join(err, writePEM(a.file, "CERTIFICATE", der)); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *authority) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	return key
}

// issue writes a certificate for loopback addresses and its key into dir, replacing existing files.
// Servers and clients can use it until notAfter.
func (a *authority) issue(dir string, notAfter time.Time) (certFile, keyFile string) {
	a.t.Helper()
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	key := a.newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "troupe"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: notAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	private, keyErr := x509.MarshalECPrivateKey(key)
	if err := errors.Join(err, keyErr, writePEM(certFile, "CERTIFICATE", der), writePEM(keyFile, "EC PRIVATE KEY", private)); err != nil {
		a.t.Fatal(err)
	}
	return certFile, keyFile
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// startSecure runs one member with a certificate issued by a. Client certificates must be issued by
// an authority in the file clients, which must include a.
func startSecure(t testing.TB, a *authority, clients string) *etcdtest.Cluster {
	t.Helper()
	certFile, keyFile := a.issue(t.TempDir(), time.Now().Add(time.Hour))
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return etcdtest.StartTLS(t, &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
		"--client-cert-auth", "--trusted-ca-file", clients, "--cert-file", certFile, "--key-file", keyFile)
}
