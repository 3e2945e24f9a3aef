package policy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	front "github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/test/client"
)

// TestSlowCrowd checks that a thousand requests that stall at different points do not delay other
// requests or cause their rejection.
func TestSlowCrowd(t *testing.T) {
	v := start(t)
	const each = 250
	sorts := []string{
		"", // no handshake
		"GET " + configMaps + " HTTP/1.1\r\nHost: x\r\nX-",
		"POST " + configMaps + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
		"GET " + configMaps + "?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n", // and never reads
	}
	admin := v.admin()
	admin.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	var crowd sync.WaitGroup
	conns := make(chan net.Conn, 2*each*len(sorts))
	for _, begun := range sorts {
		for range 8 {
			crowd.Go(func() {
				for n := 0; n <= each/8; n++ {
					conn, err := net.Dial("tcp", v.d.Addr().String())
					if err != nil {
						t.Error(err)
						return
					}
					if begun != "" {
						conn = tls.Client(conn, admin)
						if _, err := io.WriteString(conn, begun); err != nil {
							t.Error(err)
						}
					}
					conns <- conn
				}
			})
		}
	}
	// ask creates and reads objects while the crowd connects, and afterwards.
	ask := func(from, to int) {
		for n := from; n < to; n++ {
			name := fmt.Sprintf("m-%d", n)
			v.must(201, "POST", configMaps, typeJSON, configMap(name))
			v.must(200, "GET", configMaps+"/"+name, "", "")
			v.must(200, "GET", configMaps+"?limit=5", "", "")
		}
	}
	ask(0, 50)
	crowd.Wait()
	if len(conns) < 1000 {
		t.Fatalf("only %d came", len(conns))
	}
	ask(50, 100)
	if got := v.raw(v.anonymous(), "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"); got.code != 200 {
		t.Errorf("livez: %d", got.code)
	}
	close(conns)
	for conn := range conns {
		_ = conn.SetDeadline(time.Now())
		_ = conn.Close()
	}
}

type adminAuthenticator struct{}

func (adminAuthenticator) Authenticate(authn.Request) (*authn.User, error) {
	return &authn.User{Name: "admin", Groups: []string{authn.GroupMasters}}, nil
}

// TestSlowReaders checks that a client that does not read a large response is disconnected.
func TestSlowReaders(t *testing.T) {
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cut := make(chan error, 1)
	var store struct{ front.Store } // not used
	server, err := front.New(front.Options{
		Naming: meta.Platform, Catalog: kinds, Store: store, Authenticator: adminAuthenticator{}, Authorizer: authz.Masters{},
		Listener: listener, Limits: front.Limits{WriteTimeout: 300 * time.Millisecond},
		ExtraRoutes: map[string]front.ExtraRoute{"/much": {Write: func(w io.Writer) error {
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					cut <- err
					return err
				}
			}
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /much HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-cut:
		if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
			t.Errorf("the answer was cut by %v", err)
		}
	case <-time.After(client.Watchdog):
		t.Error("the answer goes on")
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
