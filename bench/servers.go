package main

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// Server is a daemon or kube-apiserver that the harness started, with its etcd, if any. programs is
// in start order.
type Server struct {
	Target   *Target
	programs []*program
}

func (s *Server) start(binary string, args ...string) (*program, error) {
	p, err := startProgram(binary, args...)
	if err == nil {
		s.programs = append(s.programs, p)
	}
	return p, err
}

func (s *Server) stop() (err error) {
	for _, p := range slices.Backward(s.programs) {
		err = errors.Join(err, p.stop())
	}
	return err
}

func (s *Server) kill() {
	for _, p := range slices.Backward(s.programs) {
		p.kill()
	}
}

func (s *Server) count() {
	for _, p := range s.programs {
		s.Target.Processes = append(s.Target.Processes, p.Process.Pid)
	}
	if len(s.programs) > 1 {
		s.Target.Etcd = s.Target.Processes[:1]
	}
}

// startDaemon runs `<binary> serve` on a free port with data directory dir, and returns when it is
// ready. If etcd is set, startDaemon first starts that etcd and stores the objects in it. On
// failure, it stops all started processes.
func startDaemon(o *Options, binary, etcd, dir string) (_ *Server, err error) {
	s := &Server{}
	defer func() {
		if err != nil {
			s.kill()
		}
	}()
	args := append([]string{"serve", "--data-dir", dir, "--secure-port", "0", "--naming", o.Naming, "--audit-log-path", dir + ".audit"}, o.StartArgs...)
	if o.Users > 0 {
		args = append(args, "--token-auth-file", dir+".tokens")
		if err := writeUsers(dir+".tokens", o.Users); err != nil {
			return nil, err
		}
	}
	if etcd != "" {
		url, err := s.startEtcd(etcd, dir+".etcd")
		if err != nil {
			return nil, err
		}
		args = append(args, "--etcd-servers", url)
	}
	p, err := s.start(binary, args...)
	if err != nil {
		return nil, err
	}
	if err := p.await(func() bool {
		p.output.mu.Lock()
		defer p.output.mu.Unlock()
		return p.output.line != ""
	}); err != nil {
		return nil, err
	}
	if s.Target, err = readyTarget(p.output.line); err != nil {
		return nil, err
	}
	s.count()
	return s, nil
}

var (
	readyPath    = regexp.MustCompile(`KUBECONFIG="?([^\s"]+)"?`)
	readyAddress = regexp.MustCompile(`https://[^\s",;/]+`)
)

// readyTarget loads the kubeconfig named in the ready line. An address in the line takes
// precedence, because the file may be from an earlier start.
func readyTarget(line string) (*Target, error) {
	match := readyPath.FindStringSubmatch(line)
	if match == nil {
		return nil, fmt.Errorf("no path in the ready line %q", line)
	}
	target, err := LoadTarget(match[1])
	if err != nil {
		return nil, err
	}
	if address := readyAddress.FindString(line); address != "" {
		err = target.setServer(address)
	}
	return target, err
}

// startEtcd starts a single-member etcd with data directory dir. It returns the URL once etcd
// listens.
func (s *Server) startEtcd(binary, dir string) (string, error) {
	port, portErr := freePort()
	peerPort, peerErr := freePort()
	if err := errors.Join(portErr, peerErr); err != nil {
		return "", err
	}
	address := net.JoinHostPort("127.0.0.1", port)
	url, peer := "http://"+address, "http://"+net.JoinHostPort("127.0.0.1", peerPort)
	p, err := s.start(binary, "--data-dir", dir, "--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	if err != nil {
		return "", err
	}
	return url, p.await(func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		return err == nil && c.Close() == nil
	})
}

// startKubernetes starts a kube-apiserver with its etcd and returns when it is ready. Like the
// daemon, it uses TLS, client certificates, RBAC, a metadata-level audit log, and synced writes.
// The ServiceAccount plugin is disabled, because it would reject Pods without the controller that
// creates service accounts. On failure, startKubernetes stops all started processes.
func startKubernetes(binary, etcd, dir string) (_ *Server, err error) {
	s := &Server{}
	defer func() {
		if err != nil {
			s.kill()
		}
	}()
	admin, err := selfSigned(pkix.Name{CommonName: "bench-administrator", Organization: []string{"system:masters"}})
	if err != nil {
		return nil, err
	}
	key, err := x509.MarshalECPrivateKey(admin.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		return nil, err
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	const metadata = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"
	port, err := freePort()
	if err = errors.Join(err, os.MkdirAll(dir, 0o700),
		os.WriteFile(file("users.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: admin.Certificate[0]}), 0o600),
		os.WriteFile(file("accounts.key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: key}), 0o600),
		os.WriteFile(file("audit.yaml"), []byte(metadata), 0o600)); err != nil {
		return nil, err
	}
	url, err := s.startEtcd(etcd, file("etcd"))
	if err != nil {
		return nil, err
	}
	p, err := s.start(binary,
		"--etcd-servers", url, "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--secure-port", port,
		"--cert-dir", dir, "--client-ca-file", file("users.crt"), "--authorization-mode", "Node,RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-signing-key-file", file("accounts.key"),
		"--service-account-key-file", file("accounts.key"), "--service-cluster-ip-range", "10.96.0.0/16",
		"--endpoint-reconciler-type", "none", "--disable-admission-plugins", "ServiceAccount",
		"--audit-policy-file", file("audit.yaml"), "--audit-log-path", file("audit.log"), "--audit-log-maxsize", "1000")
	if err != nil {
		return nil, err
	}
	s.Target = &Target{Address: net.JoinHostPort("127.0.0.1", port), TLS: &tls.Config{ServerName: "127.0.0.1", Certificates: []tls.Certificate{admin}, NextProtos: []string{"http/1.1"}}}
	s.count()
	// The server generates its certificate before it is ready.
	return s, p.await(func() bool {
		s.Target.TLS.RootCAs = x509.NewCertPool()
		text, err := os.ReadFile(file("apiserver.crt"))
		if err != nil || !s.Target.TLS.RootCAs.AppendCertsFromPEM(text) {
			return false
		}
		c := s.Target.Conn()
		defer c.Close()
		status, _, err := c.Do(get("/readyz"))
		return err == nil && status == http.StatusOK
	})
}

// dataDir returns the path for a data directory below dir, and a function that removes it. The
// daemon creates the directory with suitable permissions.
func dataDir(dir string) (path string, remove func(), err error) {
	parent, err := os.MkdirTemp(dir, "bench-data-")
	return filepath.Join(parent, "data"), func() { _ = os.RemoveAll(parent) }, err
}
