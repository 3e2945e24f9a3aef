package policy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// A tlsServer is a daemon with certificate files that the test can replace.
type tlsServer struct {
	*client.Server
	t         *testing.T // the current subtest
	data, dir string     // the daemon's data directory, and the directory of its files
	// roots signs serving certificates. firstCA and secondCA sign client certificates.
	roots, firstCA, secondCA tls.Certificate
}

func (v *tlsServer) path(name string) string { return filepath.Join(v.dir, name) }

// write replaces the file atomically, because the daemon may read it at any time.
func (v *tlsServer) write(name string, text []byte) {
	v.t.Helper()
	fresh := v.path(name) + ".new"
	client.WriteFile(v.t, fresh, text)
	if err := os.Rename(fresh, v.path(name)); err != nil {
		v.t.Fatal(err)
	}
}

func (v *tlsServer) writePair(name string, c tls.Certificate) {
	v.t.Helper()
	v.write(name+".crt", pki.PEM(c.Leaf))
	v.write(name+".key", pki.KeyPEM(v.t, c.PrivateKey))
}

const strictTransport = "max-age=31536000; includeSubDomains"

func startTLSServer(t *testing.T) *tlsServer {
	t.Helper()
	v := &tlsServer{t: t, data: filepath.Join(t.TempDir(), "data"), dir: t.TempDir()}
	v.roots, v.firstCA, v.secondCA = pki.Authority(t, "roots"), pki.Authority(t, "first"), pki.Authority(t, "second")
	v.writePair("serving", pki.Server(t, v.roots, "main.example", "127.0.0.1"))
	v.writePair("one", pki.Server(t, v.roots, "one.example"))
	v.writePair("two", pki.Server(t, v.roots, "unused.example"))
	v.write("clients.pem", pki.PEM(v.firstCA.Leaf))
	v.Server = client.Serve(t, v.data, func(c *daemon.Config) {
		c.TLS.CertFile, c.TLS.PrivateKeyFile = v.path("serving.crt"), v.path("serving.key")
		c.TLS.SNICertKeys = []string{v.path("one.crt") + "," + v.path("one.key"), v.path("two.crt") + "," + v.path("two.key") + ":two.example,*.two.example"}
		c.TLS.CipherSuites = []string{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}
		c.TLS.Curves = []string{"23"}
		c.TLS.ReloadPeriod = daemon.Duration(20 * time.Millisecond)
		c.TLS.StrictTransportSecurity = []string{"max-age=31536000", "includeSubDomains"}
		c.Authentication.ClientCAFile = v.path("clients.pem")
		c.Serving.CORSAllowedOrigins = []string{`^https://console\.example\.com$`}
	})
	return v
}

func (v *tlsServer) host() string { return strings.TrimPrefix(v.URL, "https://") }

// settings returns a TLS client configuration that trusts v.roots. change may be nil.
func (v *tlsServer) settings(change func(*tls.Config)) *tls.Config {
	c := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}
	c.RootCAs.AddCert(v.roots.Leaf)
	if change != nil {
		change(c)
	}
	return c
}

// served connects with the given settings. It returns the serving certificate and the connection
// state.
func (v *tlsServer) served(change func(*tls.Config)) (*x509.Certificate, tls.ConnectionState, error) {
	v.t.Helper()
	c, err := tls.DialWithDialer(&net.Dialer{Timeout: client.Watchdog}, "tcp", v.host(), v.settings(change))
	if err != nil {
		return nil, tls.ConnectionState{}, err
	}
	defer c.Close()
	state := c.ConnectionState()
	return state.PeerCertificates[0], state, nil
}

func (v *tlsServer) caller(change func(*tls.Config)) *http.Client {
	tr := &http.Transport{TLSClientConfig: v.settings(change)}
	v.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: client.Watchdog}
}

func (v *tlsServer) code(c *http.Client, path string) int {
	v.t.Helper()
	answer, err := c.Get(v.URL + path)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		v.t.Fatal(err)
	}
	return answer.StatusCode
}

func (v *tlsServer) until(label string, ok func() bool) {
	v.t.Helper()
	client.Eventually(v.t, func() error {
		if !ok() {
			return errors.New(label)
		}
		return nil
	})
}

func (v *tlsServer) reloads(label, status string) string {
	v.t.Helper()
	answer, err := v.admin().Get(v.URL + "/metrics")
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	_, figure, ok := strings.Cut(string(text), fmt.Sprintf("troupe_certificate_reloads_total{what=%q,status=%q} ", label, status))
	if !ok {
		v.t.Fatalf("no series for %s and %s", label, status)
	}
	figure, _, _ = strings.Cut(figure, "\n")
	return figure
}

func (v *tlsServer) admin() *http.Client {
	return v.caller(func(c *tls.Config) { c.Certificates = v.TLS.Certificates })
}

func TestTransport(t *testing.T) {
	t.Parallel()
	v := startTLSServer(t)
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"versions and suites", v.versions},
		{"names", v.names},
		{"sessions", v.sessions},
		{"plain HTTP", v.plainHTTP},
		{"headers", v.headers},
		{"origins", v.origins},
		{"slow handshakes", v.slowHandshakes},
		{"reload of the serving pair", v.reloadServing},
		{"reload of a named pair", v.reloadNamed},
		{"reload of client CAs", v.reloadClients},
	} {
		t.Run(part.name, func(t *testing.T) {
			v.t = t
			part.test(t)
		})
	}
}

func (v *tlsServer) versions(t *testing.T) {
	between := func(least, most uint16, suites ...uint16) func(*tls.Config) {
		return func(c *tls.Config) { c.MinVersion, c.MaxVersion, c.CipherSuites = least, most, suites }
	}
	for name, test := range map[string]struct {
		change  func(*tls.Config)
		version uint16 // 0: rejected
	}{
		"1.0":             {between(tls.VersionTLS10, tls.VersionTLS10), 0},
		"1.1":             {between(tls.VersionTLS10, tls.VersionTLS11), 0},
		"1.2":             {between(tls.VersionTLS12, tls.VersionTLS12), tls.VersionTLS12},
		"1.3":             {between(tls.VersionTLS12, tls.VersionTLS13), tls.VersionTLS13},
		"1.2, its suite":  {between(tls.VersionTLS12, tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384), tls.VersionTLS12},
		"1.2, not chosen": {between(tls.VersionTLS12, tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256), 0},
		"P-256":           {func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256} }, tls.VersionTLS13},
		"no P-256":        {func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.X25519} }, 0},
		"ALPN":            {func(c *tls.Config) { c.NextProtos = []string{"h2", "http/1.1"} }, tls.VersionTLS13},
		"ALPN of h2 only": {func(c *tls.Config) { c.NextProtos = []string{"h2"} }, 0},
	} {
		_, state, err := v.served(test.change)
		if (err == nil) != (test.version != 0) || state.Version != test.version {
			t.Errorf("%s: version %x, %v", name, state.Version, err)
		}
		if err == nil && test.version == tls.VersionTLS12 && state.CipherSuite != tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 {
			t.Errorf("%s: suite %s", name, tls.CipherSuiteName(state.CipherSuite))
		}
		if name == "ALPN" && state.NegotiatedProtocol != "http/1.1" {
			t.Errorf("%s: %q", name, state.NegotiatedProtocol)
		}
	}
}

func (v *tlsServer) names(t *testing.T) {
	for name, want := range map[string]string{
		"": "main.example", "main.example": "main.example", "none.example": "main.example",
		"one.example": "one.example", "ONE.example": "one.example", "x.one.example": "main.example",
		"two.example": "unused.example", "a.two.example": "unused.example", "b.a.two.example": "main.example",
		"unused.example": "main.example",
	} {
		got, _, err := v.served(func(c *tls.Config) { c.ServerName, c.InsecureSkipVerify = name, true })
		if err != nil || got.DNSNames[0] != want {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
}

// sessions checks that the second connection resumes the TLS session as the same client.
func (v *tlsServer) sessions(t *testing.T) {
	cache := tls.NewLRUClientSessionCache(1)
	for i := range 2 {
		resumed := false
		c := v.caller(func(c *tls.Config) {
			c.ClientSessionCache, c.Certificates = cache, v.TLS.Certificates
			c.VerifyConnection = func(s tls.ConnectionState) error { resumed = s.DidResume; return nil }
		})
		if code := v.code(c, "/api/v1/secrets"); code != 200 || resumed != (i > 0) {
			t.Errorf("connection %d: resumed %t, answer %d", i, resumed, code)
		}
		c.CloseIdleConnections()
	}
}

func (v *tlsServer) plainHTTP(t *testing.T) {
	answer, err := http.Get("http://" + v.host() + "/version")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != 400 || string(text) != "Client sent an HTTP request to an HTTPS server.\n" {
		t.Errorf("%d %q %v", answer.StatusCode, text, err)
	}
}

func (v *tlsServer) headers(t *testing.T) {
	for path, code := range map[string]int{
		"/livez": 200, "/api/v1/secrets": 200, "/none": 404, "/api/v1/pods?watch=1&timeoutSeconds=1": 200, "/api/v1/pods?limit=x": 400,
	} {
		answer, err := v.admin().Get(v.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != code || answer.Header.Get("Strict-Transport-Security") != strictTransport {
			t.Errorf("%s: %d %v", path, answer.StatusCode, answer.Header)
		}
	}
}

func (v *tlsServer) origins(t *testing.T) {
	const name = "Access-Control-Allow-Origin"
	for _, test := range []struct {
		method, origin string
		code           int
		allowed        bool
	}{
		{"OPTIONS", "https://console.example.com", 204, true},
		{"GET", "https://console.example.com", 200, true},
		{"OPTIONS", "https://console.example.com.evil.org", 405, false},
		{"GET", "https://evil.org", 200, false},
		{"GET", "", 200, false},
	} {
		r, err := http.NewRequestWithContext(context.Background(), test.method, v.URL+"/api/v1/secrets", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", test.origin)
		c := v.admin()
		if test.code == 204 {
			c = v.caller(nil) // browsers send no credentials with a preflight request
		}
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		allowed := answer.Header.Get(name) == test.origin && answer.Header.Get(name) != ""
		if answer.StatusCode != test.code || allowed != test.allowed || !allowed && answer.Header.Get(name) != "" {
			t.Errorf("%s from %q: %d %v", test.method, test.origin, answer.StatusCode, answer.Header)
		}
	}
}

// slowHandshakes checks that a thousand connections without a handshake do not delay requests.
func (v *tlsServer) slowHandshakes(t *testing.T) {
	for range 1000 {
		c, err := net.DialTimeout("tcp", v.host(), client.Watchdog)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if code := v.code(v.admin(), "/api/v1/secrets"); code != 200 {
		t.Errorf("with idle connections: %d", code)
	}
}

func TestMinTLSVersion(t *testing.T) {
	t.Parallel()
	s := client.Serve(t, filepath.Join(t.TempDir(), "data"), func(c *daemon.Config) { c.TLS.MinVersion = "VersionTLS13" })
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for version, ok := range map[uint16]bool{tls.VersionTLS12: false, tls.VersionTLS13: true} {
		c, err := tls.Dial("tcp", target.Host, &tls.Config{InsecureSkipVerify: true, MaxVersion: version})
		if (err == nil) != ok {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			c.Close()
		}
	}
}
