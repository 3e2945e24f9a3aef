package daemon

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestComponentProbes(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(503)
		}
		io.WriteString(w, "ok")
	}))
	defer s.Close()
	client := s.Client()
	failing := func(context.Context) (string, bool, error) { return "", false, errors.New("broken") }
	read := readComponents([]probedComponent{
		{"absent", httpProbe(client, "https://127.0.0.1:1/healthz")},
		{"broken", failing},
		{"refusing", httpProbe(client, s.URL+"/refused")},
		{"well", httpProbe(client, s.URL+"/healthz")},
	})
	all, err := read(t.Context(), "")
	if err != nil || len(all) != 4 {
		t.Fatal(all, err)
	}
	for i, want := range []struct{ name, status, message, err string }{
		{"absent", "False", `Get "https://127.0.0.1:1/healthz": dial tcp`, ""},
		{"broken", "False", "", "broken"},
		{"refusing", "False", "HTTP probe failed with statuscode: 503", ""},
		{"well", "True", "ok", ""},
	} {
		c := all[i].Objects("conditions")[0]
		if all[i].Object("metadata").String("name") != want.name || c.String("type") != "Healthy" || c.String("status") != want.status ||
			!strings.HasPrefix(c.String("message"), want.message) || c.String("error") != want.err {
			t.Errorf("%s: %v", want.name, all[i])
		}
	}
	one, err := read(t.Context(), "well")
	if err != nil || len(one) != 1 || one[0].Objects("conditions")[0].String("status") != "True" {
		t.Error(one, err)
	}
	if _, err := read(t.Context(), "nobody"); meta.AsStatus(err).Code != 404 {
		t.Error(err)
	}
}
