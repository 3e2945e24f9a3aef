package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
)

type catalogEndpoint struct {
	table   string // the table whose base object is used
	path    string // path of the collection; {ns} stands for /namespaces/<namespace>
	status  bool   // whether there is a status subresource
	set     string // the query parameters that writes accept
	returns string // kind returned by a delete: "Status" or the object's kind
}

var endpoints = []catalogEndpoint{
	{"configmap", "/api/v1{ns}/configmaps", false, "A", "Status"},
	{"secret", "/api/v1{ns}/secrets", false, "A", "Status"},
	{"persistentvolume", "/api/v1/persistentvolumes", true, "A", "PersistentVolume"},
	{"persistentvolumeclaim", "/api/v1{ns}/persistentvolumeclaims", true, "A", "PersistentVolumeClaim"},
	{"storageclass", "/apis/storage.platform.io/v1/storageclasses", false, "A", "StorageClass"},
	{"volumeattachment", "/apis/storage.platform.io/v1/volumeattachments", true, "A", "VolumeAttachment"},
	{"csidriver", "/apis/storage.platform.io/v1/csidrivers", false, "A", "CSIDriver"},
	{"csinode", "/apis/storage.platform.io/v1/csinodes", true, "A", "CSINode"},
	{"csistoragecapacity", "/apis/storage.platform.io/v1{ns}/csistoragecapacities", false, "A", "Status"},
	{"controllerrevision", "/apis/apps/v1{ns}/controllerrevisions", false, "B", "Status"},
	{"hpa-v1", "/apis/autoscaling/v1{ns}/horizontalpodautoscalers", true, "B", "Status"},
	{"hpa-v2", "/apis/autoscaling/v2{ns}/horizontalpodautoscalers", true, "A", "Status"},
	{"service", "/api/v1{ns}/services", true, "A", "Service"},
	{"endpointslice", "/apis/discovery.platform.io/v1{ns}/endpointslices", false, "B", "Status"},
	{"ingressclass", "/apis/networking.platform.io/v1/ingressclasses", false, "B", "Status"},
	{"serviceaccount", "/api/v1{ns}/serviceaccounts", false, "B", "ServiceAccount"},
}

// A caller sends requests and fails the test on an unexpected status code.
type caller struct {
	*testing.T
	server *client.Server
}

func (c caller) do(method, path string, query url.Values, body any, code int) client.Object {
	c.Helper()
	contentType := client.JSON
	if method == http.MethodPatch {
		contentType = client.MergePatch
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	a, err := c.server.Do(c.Context(), method, path, contentType, body)
	if err != nil {
		c.Fatal(err)
	}
	if a.Code != code {
		c.Fatalf("%s %s: got %s, want %d", method, path, a, code)
	}
	return a.Object()
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	s := client.Serve(t, t.TempDir(), unprotected)
	c := newCatalog(t, meta.Platform)
	for _, e := range endpoints {
		t.Run(e.table, func(t *testing.T) {
			table, err := read("testdata/catalog/" + e.table + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			p := &catalogPlayer{s.Client, c, table, "it"}
			k, err := p.kind(catalogRequest{})
			if err != nil {
				t.Fatal(err)
			}
			everything(caller{t, s}, e, table.kind, p.body(k))
		})
	}
}

func everything(c caller, e catalogEndpoint, kind string, body map[string]any) {
	path := strings.Replace(e.path, "{ns}", "/namespaces/default", 1)
	all, one := strings.Replace(e.path, "{ns}", "", 1), path+"/it"
	for _, query := range writes(e.set) {
		c.do(http.MethodPost, path, query, body, 201)
	}
	c.do(http.MethodPost, path, url.Values{"dryRun": {"Some"}}, body, 422)
	created := c.do(http.MethodPost, path, nil, body, 201)
	if created["kind"] != kind {
		c.Errorf("created %v", created)
	}
	for _, p := range []string{path, all} {
		list := c.do(http.MethodGet, p, url.Values{"limit": {"1"}, "pretty": {"true"}}, nil, 200)
		if list["kind"] != kind+"List" || list["apiVersion"] != body["apiVersion"] {
			c.Errorf("%s: %v %v", p, list["kind"], list["apiVersion"])
		}
	}
	if all != path {
		c.do(http.MethodPost, all, nil, body, 405)
		c.do(http.MethodDelete, all, nil, nil, 405)
	}
	c.do(http.MethodGet, one, url.Values{"pretty": {"true"}}, nil, 200)
	resources := []string{one}
	if e.status {
		resources = append(resources, one+"/status")
	} else {
		c.do(http.MethodGet, one+"/status", nil, nil, 404)
	}
	for _, r := range resources {
		for _, query := range append(writes(e.set), nil) {
			c.do(http.MethodPut, r, query, c.do(http.MethodGet, r, nil, nil, 200), 200)
			c.do(http.MethodPatch, r, query, map[string]any{}, 200)
		}
	}
	deleted(c, e, kind, path, one, body)
}

// deleted tests a dry-run delete, a delete, and a deletecollection of the recreated object.
func deleted(c caller, e catalogEndpoint, kind, path, one string, body map[string]any) {
	for _, query := range []url.Values{{"dryRun": {"All"}, "pretty": {"true"}}, nil} {
		answer := c.do(http.MethodDelete, one, query, nil, 200)
		if answer["kind"] != e.returns {
			c.Errorf("delete answers a %v, want a %s", answer["kind"], e.returns)
		}
	}
	c.do(http.MethodGet, one, nil, nil, 404)
	c.do(http.MethodPost, path, nil, body, 201)
	chosen := url.Values{"fieldSelector": {"metadata.name=it"}}
	if answer := c.do(http.MethodDelete, path, chosen, nil, 200); answer["kind"] != "Status" {
		c.Errorf("deletecollection of %s answers a %v", kind, answer["kind"])
	}
	c.do(http.MethodGet, one, nil, nil, 404)
}

func writes(set string) []url.Values {
	query := url.Values{"dryRun": {"All"}, "pretty": {"true"}}
	if set == "A" {
		query.Set("fieldManager", "someone")
		query.Set("fieldValidation", "Strict")
	}
	return []url.Values{query}
}
