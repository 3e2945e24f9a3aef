package api

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	cborCborType = "application/cbor"
	cborJsonType = "application/json"
	tag          = "\xd9\xd9\xf7"
)

type server struct {
	*client.Server
	t *testing.T
}

func serveCBOR(t *testing.T, on bool) server {
	t.Helper()
	return server{client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		c.Naming = "kubernetes"
		c.API.FeatureGates = daemon.Switches{"CBORServingAndStorage": on}
	}), t}
}

type cborAnswer struct{ client.Answer }

// send sends a request. headers is a list of name, value pairs.
func (s server) send(method, path string, body []byte, headers ...string) cborAnswer {
	s.t.Helper()
	var lines []string
	for i := 0; i < len(headers); i += 2 {
		lines = append(lines, headers[i]+": "+headers[i+1])
	}
	return cborAnswer{client.Exchange(s.t, client.Transport(s.t, s.TLS), method, s.URL+path, string(body), lines...)}
}

func (a cborAnswer) decode(t *testing.T) (v map[string]any) {
	t.Helper()
	if got := a.Header.Get("Content-Type"); got != cborCborType || !bytes.HasPrefix(a.Body, []byte(tag)) {
		t.Fatalf("%d %s %q is not tagged CBOR", a.Code, got, a.Body)
	}
	if err := direct.Unmarshal(a.Body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := direct.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type cborObject = map[string]any

func publicConfigMap(name string, data any) cborObject {
	return cborObject{"apiVersion": "v1", "kind": "ConfigMap", "metadata": cborObject{"name": name}, "data": data}
}
