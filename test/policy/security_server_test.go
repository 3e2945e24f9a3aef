package policy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	token = "t0p-s3cret-t0ken"
)

// A testServer is a daemon in this process, which keeps its log and audits all requests at level
// Metadata.
type testServer struct {
	t   *testing.T
	dir string
	d   *daemon.Daemon
	log *client.Log
	// transport presents the administrator's certificate, and plain presents none.
	transport, plain *http.Transport
}

func start(t *testing.T, change ...func(*daemon.Config)) *testServer {
	t.Helper()
	v := &testServer{t: t, dir: filepath.Join(t.TempDir(), "data"), log: &client.Log{}}
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	client.WriteFile(t, tokens, token+",jane,1,\"developers\"\n")
	c := daemon.Default()
	c.DataDir, c.Serving.SecurePort, c.Logging.Verbosity, c.Authentication.TokenAuthFile = v.dir, 0, 9, tokens
	c.Controllers = client.WithoutRoots + ",-certificatesigningrequest-signing-controller" // the tests sign certificates themselves
	c.Audit.Log.Path, c.Audit.PolicyFile = v.dir+".audit", v.dir+".policy"
	client.WriteFile(t, c.Audit.PolicyFile, securityAuditPolicy)
	for _, f := range change {
		f(&c)
	}
	d, err := daemon.New(c, v.log)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	v.d = d
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
		defer cancel()
		if err := d.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	v.transport, v.plain = client.Transport(t, v.admin()), client.Transport(t, v.anonymous())
	return v
}

func (v *testServer) read(name string) []byte {
	v.t.Helper()
	data := client.ReadFile(v.t, filepath.Join(v.dir, "pki", name))
	return data
}

func (v *testServer) anonymous() *tls.Config {
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "localhost"}
	config.RootCAs.AppendCertsFromPEM(v.read("ca.crt"))
	return config
}

func (v *testServer) admin() *tls.Config {
	v.t.Helper()
	pair, err := tls.X509KeyPair(v.read("admin.crt"), v.read("admin.key"))
	if err != nil {
		v.t.Fatal(err)
	}
	config := v.anonymous()
	config.Certificates = []tls.Certificate{pair}
	return config
}

func (v *testServer) dial(config *tls.Config) net.Conn {
	v.t.Helper()
	conn, err := tls.Dial("tcp", v.d.Addr().String(), config)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(client.Watchdog))
	return conn
}

type securityAnswer struct {
	code   int
	body   string
	header http.Header
	closed bool // the connection was closed after the response
}

// raw sends bytes on a new connection and reads one response. If the server closes the connection,
// no bytes may follow the response.
func (v *testServer) raw(config *tls.Config, request string) securityAnswer {
	v.t.Helper()
	conn := v.dial(config)
	if _, err := io.WriteString(conn, request); err != nil {
		v.t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	got, err := http.ReadResponse(r, nil)
	if err != nil {
		v.t.Fatalf("%q: no answer: %v", request[:min(len(request), 200)], err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	a := securityAnswer{code: got.StatusCode, body: string(body), header: got.Header, closed: got.Close}
	if a.closed {
		if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
			v.t.Errorf("%q: after the answer came %q, %v", request[:min(len(request), 200)], rest, err)
		}
	}
	return a
}

func (v *testServer) do(method, path, kind, body string) (int, string) {
	v.t.Helper()
	a := client.Exchange(v.t, v.transport, method, v.d.URL()+path, body, "Content-Type: "+kind)
	return a.Code, string(a.Body)
}

func (v *testServer) must(code int, method, path, kind, body string) string {
	v.t.Helper()
	got, text := v.do(method, path, kind, body)
	if got != code {
		v.t.Fatalf("%s %s: %d, want %d: %.300s", method, path, got, code, text)
	}
	return text
}

const typeJSON = "application/json"
