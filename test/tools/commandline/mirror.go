//go:build unix

package main

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/troupe-api/troupe/policy/certs"
)

// sourceHost is the only Internet host that the suite uses. It serves a manifest of the Kubernetes
// repository.
const sourceHost = "raw.githubusercontent.com"

// A mirror is an HTTPS proxy that serves sourceHost from the suite's directory tree. The suite
// therefore works offline and uses files of the same version.
type mirror struct {
	proxy, files *httptest.Server
	roots        string // PEM file of the mirror's CA
}

// startMirror starts a mirror of a directory tree and writes its CA certificate to dir.
func startMirror(dir, tree string) (*mirror, error) {
	manager, err := certs.Store{}.Open([]string{sourceHost})
	if err != nil {
		return nil, err
	}
	m := &mirror{roots: filepath.Join(dir, "mirror-ca.crt")}
	if err := os.WriteFile(m.roots, manager.Set().CA.CertPEM, 0o600); err != nil {
		return nil, err
	}
	m.files = httptest.NewUnstartedServer(http.StripPrefix("/kubernetes/kubernetes/master/", http.FileServer(http.Dir(tree))))
	m.files.TLS = &tls.Config{Certificates: []tls.Certificate{*manager.Certificate()}}
	m.files.StartTLS()
	m.proxy = httptest.NewServer(m)
	return m, nil
}

func (m *mirror) environment() []string {
	return []string{"HTTPS_PROXY=" + m.proxy.URL, "NO_PROXY=127.0.0.1,localhost", "SSL_CERT_FILE=" + m.roots}
}

func (m *mirror) stop() {
	m.proxy.CloseClientConnections()
	m.files.CloseClientConnections()
	m.proxy.Close()
	m.files.Close()
}

// ServeHTTP connects CONNECT requests for sourceHost to the file server and rejects all others.
func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Host != sourceHost+":443" {
		http.Error(w, "this proxy only leads to "+sourceHost, http.StatusBadGateway)
		return
	}
	files, err := net.Dial("tcp", m.files.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer files.Close()
	w.WriteHeader(http.StatusOK)
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	go func() {
		_, _ = io.Copy(files, buffered) // an error ends the other direction
		_ = files.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(client, files)
}
