package storage

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// A caller sends requests to one daemon as its administrator.
type caller struct {
	http *http.Client
	url  string
}

func (p *daemonProcess) caller() caller {
	p.t.Helper()
	transport := &http.Transport{TLSClientConfig: adminTLS(p.t, p.dir)}
	p.t.Cleanup(transport.CloseIdleConnections)
	return caller{&http.Client{Transport: transport}, p.URL}
}

func adminTLS(t *testing.T, dir string) *tls.Config {
	t.Helper()
	c := must.Get(client.New(filepath.Join(dir, "admin.kubeconfig")))(t)
	return c.TLS
}

func (c caller) do(method, path, body string) (int, string, error) {
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if method == "PATCH" {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), errors.Join(err, answer.Body.Close())
}

func (c caller) must(t *testing.T, code int, method, path, body string) string {
	t.Helper()
	got, text, err := c.do(method, path, body)
	if err != nil || got != code {
		t.Fatalf("%s %s: %d, %v, want %d\n%s", method, path, got, err, code, text)
	}
	return text
}

type processObject struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
}

func (o processObject) version() uint64 {
	n, err := strconv.ParseUint(o.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (o processObject) state() string { return o.Metadata.ResourceVersion + " " + o.Data["n"] }

func parse(text string) (o processObject, err error) { return o, json.Unmarshal([]byte(text), &o) }

func numberedConfigMap(name string, n int) string {
	return configMap(name, fmt.Sprintf(`"n":"%d"`, n))
}

func (c caller) list(t *testing.T) map[string]string {
	t.Helper()
	return c.states(t, configMaps)
}

// states returns the states of the objects in a collection, keyed by name.
func (c caller) states(t *testing.T, path string) map[string]string {
	t.Helper()
	var list struct{ Items []processObject }
	client.Decode(t, c.must(t, 200, "GET", path, ""), &list)
	states := map[string]string{}
	for _, o := range list.Items {
		states[o.Metadata.Name] = o.state()
	}
	return states
}
