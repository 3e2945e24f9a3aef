package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Kubernetes is a kube-apiserver with an etcd, started to be compared with. What both use is its cost.
type Kubernetes struct {
	Target    *Target
	processes []*program // etcd, then the server; the one that has started last is the first to end
}

// KubernetesSpec says which programs to start, on which directory and for whose credentials. The settings are those of the
// daemons that are started here: TLS, certificates and tokens, RBAC, an audit log of metadata, a sync before each answer to a write.
//
// The admission plugin ServiceAccount is off, because nobody makes the accounts without which it refuses Pods.
type KubernetesSpec struct {
	APIServer, Etcd, Dir string
	Identity             *Identity
	Audit                bool
	Timeout              time.Duration
}

// administrators is the group whose members may do everything.
const administrators = "system:masters"

// Start starts both and returns when the server is ready. On failure nothing is left running, and the error quotes its log.
func (spec KubernetesSpec) Start(ctx context.Context) (*Kubernetes, error) {
	k := &Kubernetes{}
	if err := k.start(ctx, spec); err != nil {
		k.Stop()
		return nil, err
	}
	return k, nil
}

func (k *Kubernetes) start(ctx context.Context, spec KubernetesSpec) error {
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(spec.Dir, 0o700); err != nil {
		return err
	}
	key, policy, err := spec.writeFiles()
	if err != nil {
		return err
	}
	etcd, err := StartEtcd(spec.Etcd, spec.Dir)
	if err != nil {
		return err
	}
	k.processes = append(k.processes, etcd.program)
	secure := ports[0]
	args := []string{
		"--etcd-servers", etcd.URL, "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--secure-port", secure,
		"--cert-dir", spec.Dir, "--client-ca-file", spec.Identity.AuthorityFile(), "--token-auth-file", spec.Identity.TokenFile(),
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-signing-key-file", key, "--service-account-key-file", key,
		"--service-cluster-ip-range", "10.96.0.0/16", "--endpoint-reconciler-type", "none", "--authorization-mode", "Node,RBAC",
		"--disable-admission-plugins", "ServiceAccount",
	}
	if spec.Audit {
		args = append(args, "--audit-policy-file", policy, "--audit-log-path", filepath.Join(spec.Dir, "audit.log"), "--audit-log-maxsize", "1000")
	}
	server, err := startProgram(spec.Dir, spec.APIServer, args...)
	if err != nil {
		return err
	}
	k.processes = append(k.processes, server)
	return k.awaitReady(ctx, spec, "127.0.0.1:"+secure)
}

// writeFiles writes the key of service accounts and the audit policy.
func (spec KubernetesSpec) writeFiles() (key, policy string, err error) {
	key, policy = filepath.Join(spec.Dir, "accounts.key"), filepath.Join(spec.Dir, "audit.yaml")
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return "", "", err
	}
	const metadata = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"
	return key, policy, errors.Join(
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600),
		os.WriteFile(policy, []byte(metadata), 0o600))
}

// awaitReady asks until the server is ready. The certificate that it makes for itself is there by then.
func (k *Kubernetes) awaitReady(ctx context.Context, spec KubernetesSpec, address string) error {
	admin, err := spec.Identity.Certificate("bench-administrator", administrators)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for apiserver := k.processes[len(k.processes)-1]; ; {
		roots, ready := x509.NewCertPool(), false
		if text, err := os.ReadFile(filepath.Join(spec.Dir, "apiserver.crt")); err == nil && roots.AppendCertsFromPEM(text) {
			k.Target = &Target{
				Address: address, Timeout: spec.Timeout,
				TLS: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", Certificates: []tls.Certificate{admin}, NextProtos: []string{"http/1.1"}},
			}
			c := k.Target.Conn()
			status, _, err := c.Do(http.MethodGet, "/readyz", "", nil)
			c.Close()
			ready = err == nil && status == http.StatusOK
		}
		if ready {
			break
		}
		select {
		case <-apiserver.ended:
			return apiserver.notReady("it has ended")
		case <-ctx.Done():
			return apiserver.notReady(ctx.Err().Error())
		case <-time.After(200 * time.Millisecond):
		}
	}
	for _, program := range k.processes {
		k.Target.Processes = append(k.Target.Processes, program.Process.Pid)
	}
	k.Target.Etcd = k.Target.Processes[:1]
	return nil
}

// Stop ends both, by force where they take too long.
func (k *Kubernetes) Stop() {
	for i := len(k.processes) - 1; i >= 0; i-- {
		k.processes[i].stop()
	}
	k.processes = nil
}
