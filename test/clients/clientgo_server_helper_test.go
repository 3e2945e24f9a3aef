package clients

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	troupe "github.com/troupe-api/troupe/test/client"
)

const (
	asJSON     = "application/json"
	asProtobuf = "application/vnd.kubernetes.protobuf"
)

var encodings = map[string]string{"json": asJSON, "protobuf": asProtobuf}

// Server runs a daemon in the test process, with the kubernetes naming profile.
type Server struct {
	daemon *daemon.Daemon
	dir    string
	names  atomic.Int64 // number of namespaces created
}

// Serve starts a server that logs to log. change, which may be nil, modifies its configuration.
func Serve(log io.Writer, change func(*daemon.Config)) (*Server, error) {
	dir, err := os.MkdirTemp("", "clients")
	if err != nil {
		return nil, err
	}
	config := daemon.Default()
	config.DataDir, config.Naming, config.Serving.SecurePort = dir, "kubernetes", 0
	config.Controllers = troupe.KeepingControllers
	config.Admission.Disable = []string{"StorageObjectInUseProtection"} // its finalizers delay deletions
	if change != nil {
		change(&config)
	}
	d, err := daemon.New(config, log)
	if err != nil {
		return nil, err
	}
	return &Server{daemon: d, dir: dir}, d.Start()
}

// Stop stops the server and removes its data.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), troupe.Watchdog)
	defer cancel()
	return errors.Join(s.daemon.Stop(ctx), os.RemoveAll(s.dir))
}

// Config returns a client configuration for a media type.
func (s *Server) Config(t testing.TB, media string) *rest.Config {
	t.Helper()
	return configOf(t, s.daemon.Kubeconfig(), media)
}

func configOf(t testing.TB, kubeconfig, media string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	mustClientGo(t, err)
	config.QPS = -1
	config.ContentType = media
	if media == asProtobuf {
		config.AcceptContentTypes = media + "," + asJSON
	}
	config.WarningHandler = rest.NoWarnings{}
	return config
}

// Typed returns a clientset for a media type.
func (s *Server) Typed(t testing.TB, media string) kubernetes.Interface {
	t.Helper()
	return must1(kubernetes.NewForConfig(s.Config(t, media)))(t)
}

// Namespace creates a namespace with a unique name and returns the name.
func (s *Server) Namespace(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test-%d", s.names.Add(1))
	o := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := s.Typed(t, asJSON).CoreV1().Namespaces().Create(t.Context(), o, metav1.CreateOptions{})
	mustClientGo(t, err)
	return name
}

// Traffic records the method and URI of each request from a client.
type Traffic struct {
	mu       sync.Mutex
	requests []string
}

// Of makes clients created from config record their requests in r. It returns config.
func (r *Traffic) Of(config *rest.Config) *rest.Config {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(q *http.Request) (*http.Response, error) {
			r.mu.Lock()
			r.requests = append(r.requests, q.Method+" "+q.URL.RequestURI())
			r.mu.Unlock()
			return next.RoundTrip(q)
		})
	})
	return config
}

// With returns the recorded requests that contain all of parts.
func (r *Traffic) With(parts ...string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.requests), func(request string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(request, p) })
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func mustClientGo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must1 unwraps the result of a call and fails the test on an error. The returned function takes t,
// because a call's results must be the only arguments.
func must1[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		mustClientGo(t, err)
		return v
	}
}

// eventually calls holds until it returns true. On an error or timeout, it fails the test with the
// text from details, which may be nil.
func eventually(t testing.TB, label string, holds func(context.Context) (bool, error), details func() string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, troupe.Watchdog, true, holds)
	if err != nil {
		if details != nil {
			label += ": " + details()
		}
		t.Fatalf("%s: %v", label, err)
	}
}
