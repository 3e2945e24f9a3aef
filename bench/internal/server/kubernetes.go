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
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Kubernetes is a kube-apiserver with an etcd, started to be compared with. What both use is its cost.
type Kubernetes struct {
	Target    *Target
	processes []startedProgram // the one that has started last is the first to end
}

// A startedProgram is a process, and what tells that it is gone.
type startedProgram struct {
	*exec.Cmd
	ended chan struct{}
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
	ports, err := freePorts(3)
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
	client, peer, secure := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1], ports[2]
	if err := k.run(spec.Dir, spec.Etcd, "--data-dir", filepath.Join(spec.Dir, "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer); err != nil {
		return err
	}
	args := []string{
		"--etcd-servers", client, "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--secure-port", secure,
		"--cert-dir", spec.Dir, "--client-ca-file", spec.Identity.AuthorityFile(), "--token-auth-file", spec.Identity.TokenFile(),
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-signing-key-file", key, "--service-account-key-file", key,
		"--service-cluster-ip-range", "10.96.0.0/16", "--endpoint-reconciler-type", "none", "--authorization-mode", "Node,RBAC",
		"--disable-admission-plugins", "ServiceAccount",
	}
	if spec.Audit {
		args = append(args, "--audit-policy-file", policy, "--audit-log-path", filepath.Join(spec.Dir, "audit.log"), "--audit-log-maxsize", "1000")
	}
	if err := k.run(spec.Dir, spec.APIServer, args...); err != nil {
		return err
	}
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

// run starts a program, whose output goes to a file of its name.
func (k *Kubernetes) run(dir, binary string, args ...string) error {
	output, err := os.Create(filepath.Join(dir, filepath.Base(binary)+".log"))
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }() // the program has its own
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		return err
	}
	program := startedProgram{cmd, make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(program.ended)
	}()
	k.processes = append(k.processes, program)
	return nil
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
			return spec.notReady("it has ended")
		case <-ctx.Done():
			return spec.notReady(ctx.Err().Error())
		case <-time.After(200 * time.Millisecond):
		}
	}
	for _, program := range k.processes {
		k.Target.Processes = append(k.Target.Processes, program.Process.Pid)
	}
	return nil
}

// notReady quotes the end of the server's log.
func (spec KubernetesSpec) notReady(reason string) error {
	tail, _ := os.ReadFile(filepath.Join(spec.Dir, filepath.Base(spec.APIServer)+".log"))
	return fmt.Errorf("%s is not ready: %s\n%s", spec.APIServer, reason, tail[max(0, len(tail)-tailSize):])
}

// Stop ends both, by force where they take too long.
func (k *Kubernetes) Stop() {
	for i := len(k.processes) - 1; i >= 0; i-- {
		program := k.processes[i]
		_ = program.Process.Signal(syscall.SIGTERM)
		select {
		case <-program.ended:
		case <-time.After(drainLimit):
			_ = program.Process.Kill()
			<-program.ended
		}
	}
	k.processes = nil
}

// freePorts are ports that nobody listens on. kube-apiserver takes none by itself, so another program may come first, and the
// start fails.
func freePorts(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}
