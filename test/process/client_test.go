package process

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

// A client asks one daemon as its administrator.
type client struct {
	http *http.Client
	url  string
}

func (p *process) client() client {
	p.t.Helper()
	transport := &http.Transport{TLSClientConfig: adminTLS(p.t, p.dir)}
	p.t.Cleanup(transport.CloseIdleConnections)
	return client{&http.Client{Transport: transport}, p.url}
}

// adminTLS trusts the daemon's CA and presents the administrator's certificate.
func adminTLS(t *testing.T, dir string) *tls.Config {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(dir, "pki", "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "pki", "admin.crt"), filepath.Join(dir, "pki", "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{pair}}
	config.RootCAs.AppendCertsFromPEM(ca)
	return config
}

// do answers the code and the whole body.
func (c client) do(method, path, body string) (int, string, error) {
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), errors.Join(err, answer.Body.Close())
}

// must is do for what has to be answered with code.
func (c client) must(t *testing.T, code int, method, path, body string) string {
	t.Helper()
	got, text, err := c.do(method, path, body)
	if err != nil || got != code {
		t.Fatalf("%s %s: %d, %v, want %d\n%s", method, path, got, err, code, text)
	}
	return text
}

// An object is what the tests look at.
type object struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
}

func (o object) version() uint64 {
	n, err := strconv.ParseUint(o.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (o object) state() string { return o.Metadata.ResourceVersion + " " + o.Data["n"] }

func parse(text string) (o object, err error) { return o, json.Unmarshal([]byte(text), &o) }

func configMap(name string, n int) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"data":{"n":"%d"}}`, name, n)
}

// list answers the state of every config map of the test, by name.
func (c client) list(t *testing.T) map[string]string {
	t.Helper()
	var list struct{ Items []object }
	if err := json.Unmarshal([]byte(c.must(t, 200, "GET", configMaps, "")), &list); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, o := range list.Items {
		states[o.Metadata.Name] = o.state()
	}
	return states
}
