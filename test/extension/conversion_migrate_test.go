package extension

import (
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestStorageMigration checks that changing the storage version of a CRD works as in
// kube-apiserver. The old version stays in storedVersions until a client removes it. A no-op update
// rewrites an object in the new version, so that later reads need no conversion.
func TestStorageMigration(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	s.redefine(200, routes{clientConfig: h.clientConfig(), stored: "v2"})
	s.want(s.Send(200, "GET", conversionDefinitions+"/routes.example.com", "", "").Object()["status"], `"storedVersions":["v1","v2"]`)
	a := s.redefine(422, routes{clientConfig: h.clientConfig(), versions: "v2", stored: "v2"})
	if !strings.Contains(message(a), `status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions`) {
		t.Error(a)
	}
	h.take()
	s.wantSpec(routesV1+"/a", `{"host":"host","port":"80","proto":"tcp"}`)
	if len(h.take()) > 0 {
		t.Error("an object was converted from the version in which it is stored to the same")
	}
	o := s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
	replaced := s.Send(200, "PUT", routesV2+"/a", client.JSON, o.String()).Object()
	if replaced.Version() == o.Version() {
		t.Errorf("%s was not stored anew", replaced)
	}
	again := s.Send(200, "PUT", routesV2+"/a", client.JSON, replaced.String()).Object()
	if again.Version() != replaced.Version() {
		t.Errorf("%s was stored anew without need", again)
	}
	h.set(func(review, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	h.take()
	s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
	if len(h.take()) > 0 {
		t.Error("an object was converted that is stored anew")
	}
	s.Send(200, "PATCH", conversionDefinitions+"/routes.example.com/status", typeMerge, `{"status":{"storedVersions":["v2"]}}`)
	s.redefine(200, routes{clientConfig: h.clientConfig(), versions: "v2", stored: "v2"})
	s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
	s.Send(404, "GET", routesV1+"/a", "", "")
}

// TestLostVersion checks that objects stored in a removed version are reported and can be deleted.
func TestLostVersion(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	s.redefine(200, routes{clientConfig: h.clientConfig(), stored: "v2", versions: "v0 v1 v2"})
	s.Send(200, "PATCH", conversionDefinitions+"/routes.example.com/status", typeMerge, `{"status":{"storedVersions":["v2"]}}`)
	s.redefine(200, routes{clientConfig: h.clientConfig(), stored: "v2", versions: "v0 v2"})
	for _, path := range []string{routesV2 + "/a", routesV2} {
		if a := s.Send(500, "GET", path, "", ""); message(a) != "request to convert CR from an invalid group/version: example.com/v1" {
			t.Errorf("%s: %s", path, a)
		}
	}
	s.Send(200, "DELETE", routesV2+"/a", "", "")
	s.Send(200, "GET", routesV2, "", "")
}

// TestChangeOfStrategy checks that the conversion strategy None changes only apiVersion, and that a
// CRD's conversion webhook can be added and removed.
func TestChangeOfStrategy(t *testing.T) {
	t.Parallel()
	s, h := serveConversion(t, nil), startConversion(t)
	s.define(routes{strategy: "None"})
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	s.wantSpec(routesV2+"/a", `{"proto":"tcp"}`)
	s.redefine(200, routes{clientConfig: h.clientConfig()})
	s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
	s.redefine(200, routes{strategy: "None"})
	s.wantSpec(routesV2+"/a", `{"proto":"tcp"}`)
	if n := len(h.take()); n != 1 {
		t.Errorf("%d questions", n)
	}
}

// TestChangeOfWebhook checks that cached conversions are dropped when the CRD changes.
func TestChangeOfWebhook(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
	other := startConversion(t)
	other.set(lie(func(r *review) { r.Response.ConvertedObjects[0]["spec"] = conversionObject{"hostPort": "other:1"} }))
	s.redefine(200, routes{clientConfig: other.clientConfig()})
	s.wantSpec(routesV2+"/a", `{"hostPort":"other:1"}`)
	_ = h
}
