package server

import (
	"fmt"
	"net"
	"path/filepath"
	"time"
)

// Etcd is an etcd of one member that the harness started and must end. Several daemons may keep their state in it.
type Etcd struct {
	*program
	URL string // where it serves clients
}

// StartEtcd starts an etcd that keeps its data in dir, where it may have some already, and returns when it listens.
func StartEtcd(binary, dir string) (*Etcd, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", ports[0])
	url, peer := "http://"+address, "http://"+net.JoinHostPort("127.0.0.1", ports[1])
	p, err := startProgram(dir, binary, "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return &Etcd{program: p, URL: url}, c.Close()
		}
		select {
		case <-p.ended:
			return nil, p.notReady("it has ended")
		case <-time.After(50 * time.Millisecond):
		}
		if time.Since(began) > readyLimit {
			p.stop()
			return nil, p.notReady(fmt.Sprintf("it does not listen after %v", readyLimit))
		}
	}
}

// Stop asks it to end, and waits for it.
func (e *Etcd) Stop() { e.stop() }

// CountWith makes its cost count as a part of that of a daemon that keeps its state in it.
func (e *Etcd) CountWith(t *Target) {
	t.Etcd = []int{e.Process.Pid}
	t.Processes = append(t.Processes, e.Process.Pid)
}
