package policy_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/remote"
)

// serve starts a TLS server. It returns the URL and the base64-encoded CA.
func serve(t *testing.T, handle http.HandlerFunc) (where, authority string) {
	s := httptest.NewUnstartedServer(handle)
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s.URL, base64.StdEncoding.EncodeToString(block)
}

func load(t *testing.T, path string) *remote.Client {
	t.Helper()
	s, err := remote.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPost(t *testing.T) {
	var got *http.Request
	var body string
	where, authority := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		_, _ = io.WriteString(w, `{"a":1}`)
	})
	for user, credential := range map[string]string{
		"":                           "",
		`token: t0`:                  "Bearer t0",
		`username: u, password: "p"`: "Basic dTpw",
	} {
		s := load(t, writeKubeconfig(t, fmt.Sprintf(`server: "%s/path?q=1", certificate-authority-data: %s`, where, authority), user))
		answer, err := s.Post(context.Background(), []byte(`{"q":2}`))
		if err != nil || string(answer) != `{"a":1}` {
			t.Fatalf("got %s, %v", answer, err)
		}
		if got.Method != "POST" || got.URL.String() != "/path?q=1" || got.Header.Get("Content-Type") != "application/json" || body != `{"q":2}` {
			t.Errorf("asked %s %s %v %s", got.Method, got.URL, got.Header, body)
		}
		if got.Header.Get("Authorization") != credential {
			t.Errorf("user {%s}: credential %q", user, got.Header.Get("Authorization"))
		}
	}
}

func TestTokenFile(t *testing.T) {
	var credential atomic.Value
	where, authority := serve(t, func(w http.ResponseWriter, r *http.Request) { credential.Store(r.Header.Get("Authorization")) })
	path := writeKubeconfig(t, fmt.Sprintf(`server: "%s", certificate-authority-data: %s`, where, authority), "tokenFile: token")
	if _, err := remote.Load(path); err == nil || !strings.Contains(err.Error(), "tokenFile") {
		t.Errorf("without the file: %v", err)
	}
	var s *remote.Client
	for _, token := range []string{"one", "two\n"} {
		writeFile(t, filepath.Dir(path), "token", token)
		if s == nil {
			s = load(t, path)
		}
		if _, err := s.Post(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		if credential.Load() != "Bearer "+strings.TrimSpace(token) {
			t.Errorf("got %q", credential.Load())
		}
	}
}

func TestBadResponses(t *testing.T) {
	var asked atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/fine", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/fine", func(w http.ResponseWriter, r *http.Request) { t.Error("a redirect was followed") })
	mux.HandleFunc("/huge", func(w http.ResponseWriter, r *http.Request) {
		for range 4 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/cut", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/code/{code}", func(w http.ResponseWriter, r *http.Request) {
		var code int
		_, _ = fmt.Sscan(r.PathValue("code"), &code)
		w.WriteHeader(code)
	})
	where, authority := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client disconnects
		mux.ServeHTTP(w, r)
	})
	for _, test := range readCases[[]struct {
		Path, Fault string
		Questions   int64
	}](t, "kubeconfig/responses") {
		s := load(t, writeKubeconfig(t, fmt.Sprintf(`server: "%s%s?secret=s3cret", certificate-authority-data: %s`, where, test.Path, authority), "token: t0ken"))
		ctx, cancel := context.WithCancel(context.Background())
		if test.Path == "/slow" {
			ctx, cancel = context.WithTimeout(ctx, time.Second)
		}
		asked.Store(0)
		_, err := s.PostWithRetry(ctx, []byte(`{"token":"b0dy"}`), remote.Backoff{Steps: 2, Duration: time.Millisecond, Factor: 1.5})
		cancel()
		if (err == nil) != (test.Fault == "") || err != nil && !strings.Contains(err.Error(), test.Fault) {
			t.Errorf("%s: got error %v, want %q", test.Path, err, test.Fault)
		}
		if asked.Load() != test.Questions {
			t.Errorf("%s: %d questions, want %d", test.Path, asked.Load(), test.Questions)
		}
		for _, hidden := range []string{"s3cret", "t0ken", "b0dy"} {
			if err != nil && strings.Contains(err.Error(), hidden) {
				t.Errorf("%s: %q is in the error %v", test.Path, hidden, err)
			}
		}
		var failure *remote.StatusError
		if strings.HasPrefix(test.Fault, "returned status") && !errors.As(err, &failure) {
			t.Errorf("%s: the error is no StatusError", test.Path)
		}
	}
}

func TestUntrustedServer(t *testing.T) {
	where, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
	_, authority := serve(t, func(http.ResponseWriter, *http.Request) {})
	for name, cluster := range map[string]string{
		"no CA":        fmt.Sprintf(`server: "%s"`, where),
		"another name": fmt.Sprintf(`server: "%s", tls-server-name: elsewhere.invalid, certificate-authority-data: %s`, where, authority),
	} {
		s := load(t, writeKubeconfig(t, cluster, ""))
		if _, err := s.PostWithRetry(context.Background(), nil, remote.Backoff{Steps: 5, Duration: time.Hour, Factor: 2}); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBackoffEndsWithContext(t *testing.T) {
	asked := make(chan bool, 1)
	where, authority := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		asked <- true
	})
	s := load(t, writeKubeconfig(t, fmt.Sprintf(`server: "%s", certificate-authority-data: %s`, where, authority), ""))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := s.PostWithRetry(ctx, nil, remote.Backoff{Steps: 1, Duration: time.Hour, Factor: 1}); err == nil {
		t.Error("no error")
	}
}

func TestGet(t *testing.T) {
	big := strings.Repeat("x", 4<<20) // larger than the bound of Post
	where, authority := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/at/backup" || r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer t" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, big)
	})
	s := load(t, writeKubeconfig(t, fmt.Sprintf(`server: "%s/at/", certificate-authority-data: %s`, where, authority), "token: t"))
	body, err := s.Get(context.Background(), "/backup")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil || string(got) != big {
		t.Errorf("%d bytes: %v", len(got), err)
	}
	var failed *remote.StatusError
	if _, err := s.Get(context.Background(), "/other"); !errors.As(err, &failed) || failed.Code != http.StatusForbidden {
		t.Errorf("other: %v", err)
	}
}
