package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/coverage"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

const (
	requests = 200 // counted requests of each kind, after as many uncounted requests
	entered  = 190 // minimum calls of a counted function; fewer come from background work
)

const object = "/api/v1/namespaces/default/configmaps/counted"

// A request is a template for repeated requests. A unique number replaces %d in the body.
type request struct {
	name, method, contentType, path, body string
}

var all = []request{
	{name: "get", method: http.MethodGet, path: object},
	{name: "list", method: http.MethodGet, path: "/api/v1/namespaces/default/configmaps"},
	{
		name: "put", method: http.MethodPut, path: object, contentType: "application/json",
		body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"counted"},"data":{"n":"%d"}}`,
	},
	{
		name: "merge-patch", method: http.MethodPatch, path: object,
		contentType: "application/merge-patch+json", body: `{"data":{"n":"%d"}}`,
	},
	{
		name: "apply", method: http.MethodPatch, path: object + "?fieldManager=counted&force=true",
		contentType: "application/apply-patch+yaml",
		body:        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"counted"},"data":{"n":"%d"}}`,
	},
}

func measure(list string) error {
	c := daemon.Default()
	c.Ephemeral, c.Naming, c.Serving.SecurePort = true, "kubernetes", 0
	c.Controllers = daemon.TestControllers
	c.Admission.Disable = []string{"ServiceAccount"}
	d, err := daemon.New(c, io.Discard)
	if err != nil {
		return err
	}
	if err := d.Start(); err != nil {
		return err
	}
	defer d.Stop(context.Background())
	s, err := newSender(d)
	if err != nil {
		return err
	}
	if err := s.create(); err != nil {
		return err
	}
	t := &table{}
	for _, r := range all {
		functions, err := s.count(r, t)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Printf("%-12s %4d functions in %2d packages\n", r.name, len(functions), packages(functions))
		if r.name == list {
			for _, f := range functions {
				fmt.Println("    " + f.pkg + " " + f.name)
			}
		}
	}
	return nil
}

type sender struct {
	client *http.Client
	url    string
	sent   int
}

func newSender(d *daemon.Daemon) (*sender, error) {
	admin := d.AdminCredentials()
	pair, err := tls.X509KeyPair(admin.Certificate, admin.Key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(admin.CA)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
	}
	return &sender{client: &http.Client{Transport: transport}, url: d.URL()}, nil
}

func (s *sender) create() error {
	return s.send(request{
		method: http.MethodPost, path: "/api/v1/namespaces/default/configmaps",
		contentType: "application/json", body: `{"metadata":{"name":"counted"},"data":{"n":"%d"}}`,
	})
}

func (s *sender) count(r request, t *table) ([]function, error) {
	for range requests {
		if err := s.send(r); err != nil {
			return nil, err
		}
	}
	if err := coverage.ClearCounters(); err != nil {
		return nil, err
	}
	for range requests {
		if err := s.send(r); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "functioncount")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := coverage.WriteMetaDir(dir); err != nil {
		return nil, err
	}
	if err := coverage.WriteCountersDir(dir); err != nil {
		return nil, err
	}
	return t.entered(dir, entered)
}

func (s *sender) send(r request) error {
	var body io.Reader
	if r.body != "" {
		s.sent++
		body = bytes.NewReader(fmt.Appendf(nil, r.body, s.sent))
	}
	request, err := http.NewRequest(r.method, s.url+r.path, body)
	if err != nil {
		return err
	}
	if r.contentType != "" {
		request.Header.Set("Content-Type", r.contentType)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s", response.Status, text)
	}
	if !json.Valid(text) {
		return fmt.Errorf("no JSON: %q", text)
	}
	return nil
}
