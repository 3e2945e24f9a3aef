package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/command"
	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// TestMain lets the test binary also run as troupe, an etcd that only listens, or the floor.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == "validate"):
		os.Exit(command.Main(os.Args))
	case len(os.Args) > 1 && os.Args[1] == nameFloor:
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case slices.Contains(os.Args, "--initial-cluster"):
		address := os.Args[slices.Index(os.Args, "--listen-client-urls")+1]
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM)
		if _, err := net.Listen("tcp", strings.TrimPrefix(address, "http://")); err != nil {
			log.Fatal(err)
		}
		<-stop
	default:
		code := m.Run()
		if err := stopDaemon(); err != nil {
			log.Fatal(err)
		}
		os.Exit(code)
	}
}

var stopDaemon = func() error { return nil }

// startedDaemon starts a daemon for all tests on first use, and returns the path of its kubeconfig.
var startedDaemon = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "bench-test-")
	if err != nil {
		return "", err
	}
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort = filepath.Join(dir, "data"), 0
	config.Journal.Sync = "none" // the data is temporary
	d, err := daemon.New(config, io.Discard)
	if err != nil {
		return "", err
	}
	stopDaemon = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return errors.Join(d.Stop(ctx), os.RemoveAll(dir))
	}
	return d.Kubeconfig(), d.Start()
})

type proxy struct {
	kubeconfig string // kubeconfig of the proxy
	server     *httptest.Server

	mu     sync.Mutex
	fault  func(*http.Request) int // returns the status code of an injected error, or 0
	counts map[string]int          // number of requests by method
}

func startProxy(t *testing.T) *proxy {
	t.Helper()
	path, err := startedDaemon()
	if err != nil {
		t.Fatal(err)
	}
	target, err := LoadTarget(path)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: target.TLS, MaxIdleConnsPerHost: 100}
	address := &url.URL{Scheme: "https", Host: target.Address}
	quiet := log.New(io.Discard, "", 0)
	forward := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, ErrorLog: quiet, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(address) }}
	p := &proxy{counts: map[string]int{}, fault: func(*http.Request) int { return 0 }, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/version" && r.URL.Query().Get("watch") == "" {
			p.mu.Lock()
			p.counts[r.Method]++
			status := p.fault(r)
			p.mu.Unlock()
			if status != 0 {
				w.WriteHeader(status)
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	p.server.Config.ErrorLog = quiet
	p.server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	p.server.StartTLS()
	t.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
		transport.CloseIdleConnections()
	})
	text := fmt.Sprintf(`{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u"}],`+
		`"clusters":[{"name":"c","cluster":{"server":%q,"insecure-skip-tls-verify":true}}]}`, p.server.URL)
	if err := os.WriteFile(p.kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *proxy) session(t *testing.T) *Session {
	t.Helper()
	s := &Session{Note: func(format string, args ...any) { t.Logf(format, args...) }, Binary: os.Args[0]}
	args := []string{"--kubeconfig", p.kubeconfig, "--size=64", "--concurrency=4", "--count=24", "--duration=1m", "--objects=600",
		"--watchers=5", "--idle-watchers=6", "--start", os.Args[0], "--settle=1ms", "--scale=0.002", "--temp-dir", t.TempDir()}
	if err := s.parse(args, io.Discard); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.Target, err = LoadTarget(p.kubeconfig); err != nil {
		t.Fatal(err)
	}
	s.Target.Processes = []int{os.Getpid()}
	return s
}

func row(t *testing.T, results []Result, name string) Result {
	t.Helper()
	i := slices.IndexFunc(results, func(r Result) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no row %q in %v", name, results)
	}
	return results[i]
}
