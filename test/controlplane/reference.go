package controlplane

import (
	"cmp"
	"context"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/freeport"
	"github.com/troupe-api/troupe/test/client"
)

// A Reference contains the paths of kube-apiserver and etcd, which run instead of Troupe.
type Reference struct{ APIServer, Etcd string }

// StartReference starts etcd and kube-apiserver with directories below dir. It uses certificates
// and keys that a Troupe daemon has generated.
func (p *Processes) StartReference(ctx context.Context, dir, kubectl string, r Reference) (*Server, error) {
	data, port, err := makeIdentity(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{Kubeconfig: filepath.Join(data, "admin.kubeconfig"), PKI: filepath.Join(data, "pki")}
	pki := func(name string) string { return filepath.Join(s.PKI, name) }
	peer, state := freeAddress(), freeAddress()
	if s.Etcd, err = p.Start(r.Etcd, "--data-dir", filepath.Join(dir, "etcd"), "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default="+peer, "--listen-client-urls", state, "--advertise-client-urls", state); err != nil {
		return nil, err
	}
	if s.Process, err = p.Start(r.APIServer,
		"--etcd-servers", state, "--bind-address=127.0.0.1", "--secure-port", port, "--advertise-address", OuterAddress(), "--service-cluster-ip-range="+ServiceRanges,
		"--tls-cert-file", pki("server.crt"), "--tls-private-key-file", pki("server.key"), "--client-ca-file", pki("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file", pki("sa.key"), "--service-account-key-file", pki("sa.pub"),
		"--requestheader-client-ca-file", pki("front-proxy-ca.crt"), "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file", pki("front-proxy-client.crt"), "--proxy-client-key-file", pki("front-proxy-client.key"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true", "--kubelet-preferred-address-types=InternalIP",
	); err != nil {
		return nil, err
	}
	return s, p.Await(ctx, "kube-apiserver", func() bool {
		return exec.Command(kubectl, "--kubeconfig", s.Kubeconfig, "get", "--raw", "/readyz").Run() == nil
	})
}

// makeIdentity starts and stops a daemon to generate certificates and keys. It returns the daemon's
// data directory and port, which kube-apiserver then uses.
func makeIdentity(dir string) (data, port string, err error) {
	config := daemon.Default()
	config.DataDir, config.Naming, config.Serving.SecurePort = filepath.Join(dir, "identity"), "kubernetes", 0
	d, err := daemon.New(config, &client.Log{})
	if err == nil {
		err = d.Start()
	}
	if err != nil {
		return "", "", err
	}
	_, port, err = net.SplitHostPort(strings.TrimPrefix(d.URL(), "https://"))
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	return config.DataDir, port, cmp.Or(err, d.Stop(ctx), writePublicKey(filepath.Join(config.DataDir, "pki")))
}

// writePublicKey writes the public key of service account tokens to a file, because kube-apiserver
// cannot derive it from a PKCS #8 private key.
func writePublicKey(pki string) error {
	text, err := os.ReadFile(filepath.Join(pki, "sa.key"))
	if err != nil {
		return err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return errors.New("sa.key is no PEM file")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return errors.New("sa.key is no key to sign with")
	}
	der, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(pki, "sa.pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600)
}

func freeAddress() string {
	port, _ := freeport.Find() // with port 0, etcd reports the error
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}
