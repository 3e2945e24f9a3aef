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

// ServiceRanges are those of Services, of both families.
const ServiceRanges = "10.0.0.0/16,fd00:10::/112"

// A Server is an API server that runs.
type Server struct {
	*Process
	Kubeconfig string   // of an administrator
	PKI        string   // the folder of the certificates and keys that it runs with
	Etcd       *Process // of kube-apiserver; nil for Troupe
}

// StartTroupe starts troupe serve, whose program is at a path, with a directory below dir.
func (p *Processes) StartTroupe(ctx context.Context, troupe, dir string, flags ...string) (*Server, error) {
	data := filepath.Join(dir, "data")
	args := []string{"serve", "--naming=kubernetes", "--data-dir", data, "--secure-port=0", "--service-cluster-ip-range=" + ServiceRanges}
	s := &Server{Kubeconfig: filepath.Join(data, "admin.kubeconfig"), PKI: filepath.Join(data, "pki")}
	var err error
	if s.Process, err = p.Start(troupe, append(args, flags...)...); err != nil {
		return nil, err
	}
	return s, p.Await(ctx, "troupe serve", func() bool { return strings.Contains(s.String(), "https://127.0.0.1") })
}

// StartManager starts kube-controller-manager for a server.
func (p *Processes) StartManager(path string, s *Server, flags ...string) (*Process, error) {
	return p.startProgram(path, s, append([]string{
		"--use-service-account-credentials=true", "--service-account-private-key-file=" + filepath.Join(s.PKI, "sa.key"),
		"--root-ca-file=" + filepath.Join(s.PKI, "ca.crt"), "--cluster-signing-cert-file=" + filepath.Join(s.PKI, "ca.crt"),
		"--cluster-signing-key-file=" + filepath.Join(s.PKI, "ca.key"),
	}, flags...)...)
}

// StartScheduler starts kube-scheduler for a server.
func (p *Processes) StartScheduler(path string, s *Server, flags ...string) (*Process, error) {
	return p.startProgram(path, s, flags...)
}

// startProgram starts a program as troupe cluster does.
func (p *Processes) startProgram(path string, s *Server, flags ...string) (*Process, error) {
	return p.Start(path, append([]string{"--kubeconfig=" + s.Kubeconfig, "--secure-port=0", "--kube-api-qps=1000", "--kube-api-burst=20"}, flags...)...)
}

// StartNodes has the nodes of a server played, by the program troupe.
func (p *Processes) StartNodes(ctx context.Context, troupe string, s *Server, nodes int) (*Process, error) {
	joined, err := p.Start(troupe, "cluster", "--join", s.Kubeconfig, fmt.Sprint("--nodes=", nodes))
	if err != nil {
		return nil, err
	}
	return joined, p.Await(ctx, "the nodes", func() bool { return strings.Contains(joined.String(), "export KUBECONFIG") })
}

// readyTimeout is how long a part of a control plane may take until it is ready.
const readyTimeout = 2 * time.Minute

// Await waits until something holds. what is it for readers.
func (p *Processes) Await(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, errors.New("not ready in time"))
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w\n%s", what, context.Cause(ctx), p.logs())
		case <-tick.C:
		}
	}
	return nil
}

// OuterAddress is an address that Endpoints of the API may have, which those of loopback interfaces may not. Nobody connects to it.
func OuterAddress() string {
	all, err := net.InterfaceAddrs()
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && err == nil && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	return "192.0.2.1" // of a network for documentation
}
