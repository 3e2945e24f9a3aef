package main

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
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/cluster"
)

// readyTimeout is how long a part of a cluster may take until it is ready.
const readyTimeout = 2 * time.Minute

// startReference starts what startCluster starts, with kube-apiserver and an etcd in place of the daemon, and returns the
// client configuration. The certificates and keys are those that a daemon makes.
func startReference(processes *processes, dir, kubectl, apiserver, etcd string, nodes int) (kubeconfig string, err error) {
	data, port, err := makeIdentity(dir)
	if err != nil {
		return "", err
	}
	pki := func(name string) string { return filepath.Join(data, "pki", name) }
	kubeconfig = filepath.Join(data, "admin.kubeconfig")
	peer, state := freeAddress(), freeAddress()
	if _, err := processes.start(etcd, "--data-dir", filepath.Join(dir, "etcd"), "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default="+peer, "--listen-client-urls", state, "--advertise-client-urls", state); err != nil {
		return "", err
	}
	if _, err := processes.start(apiserver,
		"--etcd-servers", state, "--bind-address=127.0.0.1", "--secure-port", port, "--advertise-address", outerAddress(), "--service-cluster-ip-range=10.0.0.0/16",
		"--tls-cert-file", pki("server.crt"), "--tls-private-key-file", pki("server.key"), "--client-ca-file", pki("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file", pki("sa.key"), "--service-account-key-file", pki("sa.pub"),
		"--requestheader-client-ca-file", pki("front-proxy-ca.crt"), "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file", pki("front-proxy-client.crt"), "--proxy-client-key-file", pki("front-proxy-client.key"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true", "--kubelet-preferred-address-types=InternalIP",
	); err != nil {
		return "", err
	}
	if err := await(func() bool {
		return exec.Command(kubectl, "--kubeconfig", kubeconfig, "get", "--raw", "/readyz").Run() == nil
	}); err != nil {
		return "", fmt.Errorf("kube-apiserver: %w\n%s", err, processes.logs())
	}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		path, err := cluster.Program(pins, name)
		if err != nil {
			return "", err
		}
		args := []string{"--kubeconfig=" + kubeconfig, "--secure-port=0", "--kube-api-qps=1000", "--kube-api-burst=2000"} // as troupe cluster has them
		if name == "kube-controller-manager" {
			args = append(args, "--use-service-account-credentials=true", "--service-account-private-key-file="+pki("sa.key"),
				"--root-ca-file="+pki("ca.crt"), "--cluster-signing-cert-file="+pki("ca.crt"), "--cluster-signing-key-file="+pki("ca.key"))
		}
		if _, err := processes.start(path, args...); err != nil {
			return "", err
		}
	}
	troupe, err := client.BuildTroupe(dir)
	if err != nil {
		return "", err
	}
	joined, err := processes.start(troupe, "cluster", "--join", kubeconfig, fmt.Sprint("--nodes=", nodes))
	if err != nil {
		return "", err
	}
	return kubeconfig, await(func() bool { return strings.Contains(joined.String(), "export KUBECONFIG") })
}

// makeIdentity starts a daemon and stops it again, for its certificates, its keys, and the port that they are for.
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

// writePublicKey writes the public key of service accounts, which kube-apiserver does not take from a private one in PKCS #8.
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

// freeAddress is an address that nobody listens at now.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "http://127.0.0.1:0" // whoever is given it says what is wrong
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// await waits until something holds.
func await(holds func() bool) error {
	for end := time.Now().Add(readyTimeout); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			return errors.New("it is not ready in time")
		}
	}
	return nil
}
