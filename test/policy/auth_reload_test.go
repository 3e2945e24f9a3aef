package policy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/test/client/pki"
)

// reloadServing replaces the serving certificate under load, first with a broken and then with a
// valid certificate. Requests must succeed, and connections must stay open.
func (v *tlsServer) reloadServing(t *testing.T) {
	var traffic sync.WaitGroup
	defer traffic.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range 4 {
		traffic.Go(func() { v.sendContinuously(ctx, t) })
	}
	serves := func(name string) bool {
		c, _, err := v.served(func(c *tls.Config) { c.InsecureSkipVerify = true })
		return err == nil && c.DNSNames[0] == name
	}
	v.write("serving.key", []byte("broken"))
	v.until("the broken pair is counted", func() bool { return v.reloads("serving", "failure") != "0" })
	if !serves("main.example") {
		t.Error("the pair before does not stay")
	}
	fresh := pki.Server(t, v.roots, "fresh.example", "127.0.0.1")
	v.writePair("serving", fresh)
	v.until("the new pair is served", func() bool { return serves("fresh.example") })
	if n := v.reloads("serving", "success"); n != "1" {
		t.Errorf("%s successes are counted", n)
	}
	text := base64.StdEncoding.EncodeToString(pki.PEM(fresh.Leaf))
	v.until("the kubeconfig trusts the new certificate", func() bool {
		written, err := os.ReadFile(filepath.Join(v.data, "admin.kubeconfig"))
		return err == nil && strings.Contains(string(written), text)
	})
}

// sendContinuously sends sequential requests over one connection until ctx ends.
func (v *tlsServer) sendContinuously(ctx context.Context, t *testing.T) {
	c, err := tls.Dial("tcp", v.host(), v.settings(func(c *tls.Config) { c.Certificates = v.TLS.Certificates }))
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	answers := bufio.NewReader(c)
	for n := 0; ctx.Err() == nil; n++ {
		if _, err := io.WriteString(c, "GET /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Errorf("request %d: %v", n, err)
			return
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Errorf("request %d: %v", n, err)
			return
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != 200 {
			t.Errorf("request %d: %d %v", n, answer.StatusCode, err)
		}
	}
}

func (v *tlsServer) reloadNamed(t *testing.T) {
	v.writePair("one", pki.Server(t, v.roots, "uno.example"))
	v.until("the new pair is served", func() bool {
		c, _, err := v.served(func(c *tls.Config) { c.ServerName = "uno.example" })
		return err == nil && c.DNSNames[0] == "uno.example"
	})
	c, _, err := v.served(func(c *tls.Config) { c.ServerName, c.InsecureSkipVerify = "one.example", true })
	if err != nil || c.DNSNames[0] == "one.example" {
		t.Errorf("the name before: %v, %v", c, err)
	}
}

// reloadClients checks that a new client CA also applies to open connections.
func (v *tlsServer) reloadClients(t *testing.T) {
	with := func(cert tls.Certificate) *http.Client {
		// Use GetClientCertificate, because the client sends Certificates only if the server
		// accepts their CA.
		return v.caller(func(c *tls.Config) {
			c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
		})
	}
	accepts := func(ca tls.Certificate) (is bool) {
		_, _, err := v.served(func(c *tls.Config) {
			c.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
				is = slices.ContainsFunc(asked.AcceptableCAs, func(subject []byte) bool { return bytes.Equal(subject, ca.Leaf.RawSubject) })
				if len(asked.AcceptableCAs) == 0 {
					t.Error("the handshake names no CA")
				}
				return &tls.Certificate{}, nil
			}
		})
		if err != nil {
			t.Error(err)
		}
		return is
	}
	if !accepts(v.firstCA) || accepts(v.secondCA) {
		t.Error("the handshake does not name the CAs of clients")
	}
	first, second, admin := with(pki.Client(t, v.firstCA, "jane")), with(pki.Client(t, v.secondCA, "joe")), v.admin()
	codes := func() string {
		return fmt.Sprint(v.code(first, "/api/v1/secrets"), v.code(second, "/api/v1/secrets"), v.code(admin, "/api/v1/secrets"))
	}
	if got := codes(); got != "403 401 200" {
		t.Errorf("before: %s", got)
	}
	v.write("clients.pem", []byte("broken"))
	v.until("the broken file is counted", func() bool { return v.reloads("client-ca", "failure") != "0" })
	if got := codes(); got != "403 401 200" {
		t.Errorf("with a broken file: %s", got)
	}
	v.write("clients.pem", pki.PEM(v.secondCA.Leaf))
	v.until("the new CA counts", func() bool { return codes() == "401 403 200" })
	v.until("handshakes name the new CA", func() bool { return !accepts(v.firstCA) && accepts(v.secondCA) })
}
