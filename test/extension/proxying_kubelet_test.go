package extension

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

func writePEM(t testing.TB, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pem")
	client.WriteFile(t, path, text)
	return path
}

// A kubelet serves the kubelet API. Its containers run commands on this machine.
type kubelet struct {
	host   string
	port   int
	open   atomic.Int64 // requests in progress
	opened atomic.Int64 // all requests
	seen   atomic.Pointer[http.Request]
	hold   chan struct{} // closed to end followed logs
}

// newKubelet starts a kubelet. servers is the CA of its serving certificate, and clients is the CA
// for client certificates.
func newKubelet(t testing.TB, host string, clients *x509.Certificate, servers tls.Certificate) *kubelet {
	t.Helper()
	k := &kubelet{host: host, hold: make(chan struct{})}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	must(t, err)
	k.port = listener.Addr().(*net.TCPAddr).Port
	pool := x509.NewCertPool()
	pool.AddCert(clients)
	server := httptest.NewUnstartedServer(http.HandlerFunc(k.serve))
	must(t, server.Listener.Close())
	server.Listener = listener
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{pki.Server(t, servers, host)},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: pool,
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return k
}

func (k *kubelet) serve(w http.ResponseWriter, r *http.Request) {
	k.seen.Store(r.Clone(context.Background()))
	k.open.Add(1)
	k.opened.Add(1)
	defer k.open.Add(-1)
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	pod := ""
	if len(parts) > 2 {
		pod = parts[1] + "/" + parts[2]
	}
	switch parts[0] {
	case "exec":
		options, err := remotecommand.NewOptions(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		remotecommand.ServeExec(w, r, containers{}, pod, "", parts[3], r.URL.Query()["command"], options, time.Hour, client.Watchdog, remoteProtocols)
	case "attach":
		options, err := remotecommand.NewOptions(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		remotecommand.ServeAttach(w, r, containers{}, pod, "", parts[3], options, time.Hour, client.Watchdog, remoteProtocols)
	case "portForward":
		options, err := portforward.NewV4Options(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, r, containers{}, pod, "", options, time.Hour, client.Watchdog, []string{portforward.ProtocolV1Name})
	case "containerLogs":
		k.serveLog(w, r, parts)
	case "metrics":
		fmt.Fprintf(w, "%s %s %s\n", r.Method, r.URL, r.TLS.PeerCertificates[0].Subject.CommonName)
	default:
		http.NotFound(w, r)
	}
}

var remoteProtocols = []string{"v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"}

// serveLog sends a log that contains the request's URI. For some container names, it returns an
// error.
func (k *kubelet) serveLog(w http.ResponseWriter, r *http.Request, parts []string) {
	switch parts[3] {
	case "absent":
		http.Error(w, "no such container", http.StatusNotFound)
		return
	case "waiting":
		http.Error(w, "the container is waiting to start", http.StatusBadRequest)
		return
	case "astray":
		http.Redirect(w, r, "https://169.254.169.254/", http.StatusFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "log %s\n", r.URL.RequestURI())
	if r.URL.Query().Get("follow") != "true" {
		return
	}
	w.(http.Flusher).Flush()
	select {
	case <-k.hold:
		fmt.Fprintln(w, "more")
	case <-r.Context().Done():
	}
}

// containers runs exec commands as processes on this machine.
type containers struct{}

func (containers) ExecInContainer(ctx context.Context, _ string, _ string, _ string, command []string, in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if command[0] == "size" { // size of the terminal
		size := <-resize
		_, err := fmt.Fprintf(out, "%dx%d\n", size.Width, size.Height)
		return err
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	if in != nil {
		stdin, err := c.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			defer stdin.Close()
			_, _ = io.Copy(stdin, in)
		}()
	}
	if out != nil {
		c.Stdout = out
	}
	if errOut != nil {
		c.Stderr = errOut
	}
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

// AttachContainer implements remotecommand.Attacher. The container echoes its input.
func (containers) AttachContainer(_ context.Context, _ string, _ string, _ string, in io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	if in == nil {
		_, err := io.WriteString(out, "attached\n")
		return err
	}
	_, err := io.Copy(out, in)
	return err
}

// PortForward implements portforward.PortForwarder. It connects to the port on this machine.
func (containers) PortForward(_ context.Context, _ string, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(c, stream)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, c)
	return err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
