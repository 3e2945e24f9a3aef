package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"
)

// ServiceRanges are the IPv4 and IPv6 ranges of cluster IPs.
const ServiceRanges = "10.0.0.0/16,fd00:10::/112"

// A Server is an API server process with the files that its clients need.
type Server struct {
	*Process
	Kubeconfig string   // path of the administrator's kubeconfig
	PKI        string   // directory of the certificates and keys
	Etcd       *Process // kube-apiserver's etcd; nil for Troupe
}

// StartTroupe starts the troupe binary with a data directory below dir, and blocks until the server
// is ready.
func (p *Processes) StartTroupe(ctx context.Context, troupe, dir string, flags ...string) (*Server, error) {
	data := filepath.Join(dir, "data")
	args := []string{"serve", "--naming=kubernetes", "--data-dir", data, "--secure-port=0", "--service-cluster-ip-range=" + ServiceRanges}
	s := &Server{Kubeconfig: filepath.Join(data, "admin.kubeconfig"), PKI: filepath.Join(data, "pki")}
	var err error
	if s.Process, err = p.Start(troupe, append(args, flags...)...); err != nil {
		return nil, err
	}
	return s, p.Await(ctx, "troupe serve", func() bool { return strings.Contains(s.String(), "troupe ready: ") })
}

// StartManager starts kube-controller-manager as a client of s.
func (p *Processes) StartManager(path string, s *Server, flags ...string) (*Process, error) {
	return p.startProgram(path, s, append([]string{
		"--use-service-account-credentials=true", "--service-account-private-key-file=" + filepath.Join(s.PKI, "sa.key"),
		"--root-ca-file=" + filepath.Join(s.PKI, "ca.crt"), "--cluster-signing-cert-file=" + filepath.Join(s.PKI, "ca.crt"),
		"--cluster-signing-key-file=" + filepath.Join(s.PKI, "ca.key"),
	}, flags...)...)
}

// StartScheduler starts kube-scheduler as a client of s.
func (p *Processes) StartScheduler(path string, s *Server, flags ...string) (*Process, error) {
	return p.startProgram(path, s, flags...)
}

func (p *Processes) startProgram(path string, s *Server, flags ...string) (*Process, error) {
	return p.Start(path, append([]string{"--kubeconfig=" + s.Kubeconfig, "--secure-port=0", "--kube-api-qps=1000", "--kube-api-burst=20"}, flags...)...)
}

// StartNodes simulates nodes with troupe cluster --join, and blocks until they have joined.
func (p *Processes) StartNodes(ctx context.Context, troupe string, s *Server, nodes int) (*Process, error) {
	joined, err := p.Start(troupe, "cluster", "--join", s.Kubeconfig, fmt.Sprint("--nodes=", nodes))
	if err != nil {
		return nil, err
	}
	return joined, p.Await(ctx, "the nodes", func() bool { return strings.Contains(joined.String(), "export KUBECONFIG") })
}

const readyTimeout = 2 * time.Minute

// Await blocks until holds returns true. After readyTimeout, it returns an error that contains name
// and the logs.
func (p *Processes) Await(ctx context.Context, name string, holds func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, errors.New("not ready in time"))
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w\n%s", name, context.Cause(ctx), p.logs())
		case <-tick.C:
		}
	}
	return nil
}

// OuterAddress returns a non-loopback address of this machine for Endpoints, because the API
// rejects loopback addresses there. No client connects to it.
func OuterAddress() string {
	all, err := net.InterfaceAddrs()
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && err == nil && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	return "192.0.2.1" // reserved for documentation
}
