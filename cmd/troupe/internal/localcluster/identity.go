package localcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/troupe-api/troupe/policy/certs"
)

// An identity holds the certificates for mutual TLS between the simulated kubelet and the daemon.
type identity struct {
	server                           *tls.Config
	authority, clientCert, clientKey string // files for the daemon
}

// newIdentity issues certificates from a new CA and discards the CA key. If dir is empty, it writes
// no client certificate and the kubelet accepts all clients, because the cluster joins an existing
// server.
func newIdentity(dir string, address netip.Addr) (i identity, err error) {
	ca, caKey, err := issue(&x509.Certificate{Subject: pkix.Name{CommonName: "simulated-nodes"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	if err != nil {
		return i, err
	}
	server, serverKey, err := issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "simulated-kubelet"}, IPAddresses: []net.IP{address.AsSlice()},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, ca, caKey)
	if err != nil {
		return i, err
	}
	i.server = &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, // exec and attach upgrade connections, which HTTP/2 cannot
		Certificates: []tls.Certificate{{Certificate: [][]byte{server.Raw}, PrivateKey: serverKey}},
	}
	if dir == "" {
		return i, nil
	}
	client, clientKey, err := issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "apiserver-kubelet-client"}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, caKey)
	if err != nil {
		return i, err
	}
	i.server.ClientAuth, i.server.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	i.server.ClientCAs.AddCert(ca)
	key, err := x509.MarshalPKCS8PrivateKey(clientKey)
	if err != nil {
		return i, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return i, err
	}
	i.authority, i.clientCert, i.clientKey = filepath.Join(dir, "ca.crt"), filepath.Join(dir, "client.crt"), filepath.Join(dir, "client.key")
	for _, f := range []struct {
		path, kind string
		content    []byte
	}{{i.authority, "CERTIFICATE", ca.Raw}, {i.clientCert, "CERTIFICATE", client.Raw}, {i.clientKey, "PRIVATE KEY", key}} {
		if err := certs.WriteFile(f.path, pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.content})); err != nil {
			return i, err
		}
	}
	return i, nil
}

// issue creates a certificate and its key. The certificate is self-signed if signer is nil.
func issue(template, signer *x509.Certificate, signerKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	if signer == nil {
		signer, signerKey = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, signer, &key.PublicKey, signerKey)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(raw)
	return certificate, key, err
}
