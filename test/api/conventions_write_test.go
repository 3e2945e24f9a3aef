package api

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/test/client"
)

// sendAccept sends a body and wants an answer in a form.
func (s *testServer) sendAccept(t testing.TB, method, path, contentType, accept, body string) client.Answer {
	t.Helper()
	headers := []string{"Accept: " + accept}
	if contentType != "" {
		headers = append(headers, "Content-Type: "+contentType)
	}
	return client.Exchange(t, client.Transport(t, s.TLS), method, s.URL+path, body, headers...)
}

// TestWriteShapes: a write answers a Table, or metadata only, to who asks for that; what no single
// object can be shown as is refused before anything changes.
func TestWriteShapes(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	shape := func(name string) string { return "application/json;as=" + name + ";g=meta.platform.io;v=v1" }
	const body, patch, merge = `{"metadata":{"name":"a"},"data":{"k":"v"}}`, `{"data":{"k":"w"}}`, "application/merge-patch+json"
	for _, c := range []struct {
		method, path, contentType, body string
		code                            int
	}{
		{"POST", configMaps, client.JSON, body, 201},
		{"PUT", configMaps + "/a", client.JSON, body, 200},
		{"PATCH", configMaps + "/a", merge, patch, 200},
		{"PATCH", configMaps + "/b?fieldManager=m", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`, 201},
		{"POST", configMaps + "?dryRun=All", client.JSON, `{"metadata":{"name":"c"}}`, 201},
	} {
		for _, refused := range []string{shape("PartialObjectMetadataList"), shape("Other"), shape("Table") + ";x&includeObject=All"} {
			accept, query, _ := strings.Cut(refused, ";x&")
			path := c.path
			if query != "" {
				path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + query
			}
			if a := s.sendAccept(t, c.method, path, c.contentType, accept, c.body); a.Code != 406 && a.Code != 400 {
				t.Errorf("%s %s as %s: %d %s", c.method, path, accept, a.Code, a.Body)
			}
		}
		if c.path == configMaps {
			s.get(t, 404, configMaps+"/a")
		}
		a := s.sendAccept(t, c.method, c.path, c.contentType, shape("Table"), c.body)
		if rows, _ := a.Object()["rows"].([]any); a.Code != c.code || a.Object()["kind"] != "Table" || len(rows) != 1 {
			t.Errorf("%s %s as a Table: %d %s", c.method, c.path, a.Code, a.Body)
		}
		if c.path == configMaps {
			s.send(t, 200, "DELETE", configMaps+"/a", "", nil)
		}
		a = s.sendAccept(t, c.method, c.path, c.contentType, shape("PartialObjectMetadata"), c.body)
		if o := a.Object(); a.Code != c.code && a.Code != 200 || o["kind"] != "PartialObjectMetadata" || o["data"] != nil || o.Name() == "" {
			t.Errorf("%s %s as metadata: %d %s", c.method, c.path, a.Code, a.Body)
		}
	}
	s.send(t, 201, "POST", configMaps, client.JSON, `{"metadata":{"name":"held","finalizers":["e.com/x"]}}`)
	for _, c := range []struct{ path, accept, kind string }{
		{configMaps + "/held", shape("PartialObjectMetadata"), "PartialObjectMetadata"},
		{configMaps + "/held", shape("Table"), "Table"},
		{configMaps + "/a", shape("PartialObjectMetadata"), "Status"},
	} {
		if a := s.sendAccept(t, "DELETE", c.path, client.JSON, c.accept, ""); a.Code != 200 || a.Object()["kind"] != c.kind {
			t.Errorf("DELETE %s as %s: %d %s", c.path, c.accept, a.Code, a.Body)
		}
	}
}

// enveloped is a Protobuf body whose envelope has an encoding and a content type.
func enveloped(kind string, raw []byte, encoding, contentType string) []byte {
	field := func(b []byte, n protowire.Number, v string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), v)
	}
	body := protowire.AppendBytes(protowire.AppendTag([]byte("k8s\x00"), 1, protowire.BytesType), field(field(nil, 1, "v1"), 2, kind))
	body = protowire.AppendBytes(protowire.AppendTag(body, 2, protowire.BytesType), raw)
	return field(field(body, 3, encoding), 4, contentType)
}

// TestEnvelopes: what an envelope says to be in another encoding is not read as Protobuf.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const protobuf = "application/vnd.platform.protobuf"
	name := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "a")
	object := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), name)
	for _, c := range []struct {
		encoding, contentType string
		code                  int
	}{{"gzip", "", 400}, {"", client.JSON, 400}, {"gzip", protobuf, 400}, {"", protobuf, 201}} {
		s.send(t, c.code, "POST", configMaps, protobuf, enveloped("ConfigMap", object, c.encoding, c.contentType))
		if c.code != 201 {
			s.get(t, 404, configMaps+"/a")
		}
	}
	s.send(t, 400, "DELETE", configMaps+"/a", protobuf, enveloped("DeleteOptions", nil, "gzip", ""))
	s.get(t, 200, configMaps+"/a")
	s.send(t, 200, "DELETE", configMaps+"/a", protobuf, enveloped("DeleteOptions", nil, "", ""))
}

// TestDeleteUnknownFields: fields of DeleteOptions that there are not are told of, or refused, as
// those of any body.
func TestDeleteUnknownFields(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const misspelt = `{"kind":"DeleteOptions","apiVersion":"v1","dryrun":["All"]}`
	for _, c := range []struct {
		query, contentType, body, warning string
		code                              int
	}{
		{"?fieldValidation=Strict", client.JSON, misspelt, "", 400},
		{"?fieldValidation=Strict", "application/yaml", "preconditions: {uuid: x}\n", "", 400},
		{"?fieldValidation=Strict", client.JSON, `{"dryRun":["All"],"dryRun":[]}`, "", 400},
		{"?fieldValidation=Other", client.JSON, `{}`, "", 422},
		{"", client.JSON, misspelt, `unknown field "dryrun"`, 200},
		{"?fieldValidation=Warn", client.JSON, `{"preconditions":{"uuid":"x"}}`, `unknown field "preconditions.uuid"`, 200},
		{"?fieldValidation=Ignore", client.JSON, misspelt, "", 200},
		{"?fieldValidation=Strict", client.JSON, `{"propagationPolicy":"Background"}`, "", 200},
	} {
		for _, path := range []string{configMaps + "/a", configMaps} {
			s.create(t, configMaps, "a", nil)
			a := s.send(t, c.code, "DELETE", path+c.query, c.contentType, c.body)
			got := strings.ReplaceAll(a.Header.Get("Warning"), `\"`, `"`)
			if c.warning == "" && got != "" || !strings.Contains(got, c.warning) {
				t.Errorf("DELETE %s%s %s: warning %q, want %q", path, c.query, c.body, got, c.warning)
			}
			if c.code != 200 {
				s.get(t, 200, configMaps+"/a")
				s.send(t, 200, "DELETE", configMaps+"/a", "", nil)
			}
		}
	}
}

// TestCreateWithVersion: a version in a create is refused behind all that is wrong with the
// object, and not in a dry run.
func TestCreateWithVersion(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const body = `{"metadata":{"name":"a","resourceVersion":"5"}}`
	a := s.send(t, 400, "POST", configMaps, client.JSON, body)
	if !bytes.Contains(a.Body, []byte("resourceVersion should not be set on objects to be created")) {
		t.Errorf("%s", a.Body)
	}
	s.get(t, 404, configMaps+"/a")
	s.send(t, 422, "POST", configMaps, client.JSON, `{"metadata":{"name":"a","resourceVersion":"5"},"data":{"no key":"v"}}`)
	s.send(t, 201, "POST", configMaps+"?dryRun=All", client.JSON, body)
	for i, version := range []string{"0", "x", "-1", "1.5", "99999999999999999999999"} {
		created := s.send(t, 201, "POST", configMaps, client.JSON, fmt.Sprintf(`{"metadata":{"name":"v%d","resourceVersion":%q}}`, i, version))
		if got := created.Object().Version(); got == 0 {
			t.Errorf("resourceVersion %s became %s", version, created)
		}
	}
	s.get(t, 404, configMaps+"/a")
	// What was set aside for a refused object is free again.
	const services, claim = "/api/v1/namespaces/default/services", `{"metadata":{"name":"a"%s},"spec":{"type":"NodePort","ports":[{"port":1,"nodePort":30123}]}}`
	s.send(t, 400, "POST", services, client.JSON, strings.Replace(claim, "%s", `,"resourceVersion":"5"`, 1))
	s.send(t, 201, "POST", services, client.JSON, strings.Replace(claim, "%s", "", 1))
}

// TestSecondDocument: no document of a YAML body is passed over.
func TestSecondDocument(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const head, apply = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "application/apply-patch+yaml"
	for _, c := range []struct {
		method, path, contentType, body string
		code                            int
	}{
		{"PATCH", configMaps + "/a?fieldManager=m", apply, head + "---\nkind: Secret\n", 400},
		{"PATCH", configMaps + "/a?fieldManager=m", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}` + "\n---\n{}\n", 400},
		{"PATCH", configMaps + "/a?fieldManager=m", apply, head + "---\n{a: [\n", 400},
		{"POST", configMaps, "application/yaml", head + "---\n" + head, 400},
		{"PATCH", configMaps + "/a?fieldManager=m", apply, "---\n" + head + "...\n---\n# nothing\n", 201},
		{"DELETE", configMaps + "/a", "application/yaml", "kind: DeleteOptions\n---\ndryRun: [All]\n", 400},
		{"POST", configMaps, "application/yaml", "metadata: {name: b}\ndata:\n  text: |\n    ---\n    ...\n", 201},
	} {
		s.send(t, c.code, c.method, c.path, c.contentType, c.body)
		if c.code == 400 && c.method != "DELETE" {
			s.get(t, 404, configMaps+"/a")
		}
	}
	s.get(t, 200, configMaps+"/a")
}

// TestLastChunk: no token, and no number of what remains, is in the last chunk of a list, nor in a
// list that is no chunk.
func TestLastChunk(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	for _, name := range []string{"a", "b", "c"} {
		s.create(t, configMaps, name, map[string]string{"g": "1"})
	}
	const table, partial = "application/json;as=Table;g=meta.platform.io;v=v1", "application/json;as=PartialObjectMetadataList;g=meta.platform.io;v=v1"
	for _, accept := range []string{client.JSON, table, partial} {
		for _, query := range []string{"?limit=3", "?limit=4", "", "?labelSelector=g&limit=3"} {
			if m := s.accept(t, configMaps+query, accept).Object().Metadata(); len(m) != 1 {
				t.Errorf("%s as %s: %v", query, accept, m)
			}
		}
		m := s.accept(t, configMaps+"?limit=2", accept).Object().Metadata()
		token, _ := m["continue"].(string)
		if n, _ := m["remainingItemCount"].(float64); n != 1 || token == "" {
			t.Errorf("the first chunk as %s: %v", accept, m)
		}
		if m := s.accept(t, configMaps+"?limit=2&continue="+token, accept).Object().Metadata(); len(m) != 1 {
			t.Errorf("the last chunk as %s: %v", accept, m)
		}
	}
}

// TestUpdateOfMissingObject: where an update creates, a uid still means another object.
func TestUpdateOfMissingObject(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const core, rbac = "/api/v1/namespaces/default/", "/apis/rbac.authorization.platform.io/v1/"
	role := `,"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"view"}`
	for collection, rest := range map[string]string{
		"/apis/coordination.platform.io/v1/namespaces/default/leases": "", core + "endpoints": "", core + "limitranges": `,"spec":{"limits":[]}`,
		core + "events": `,"involvedObject":{"namespace":"default"}`, core + "services": `,"spec":{"ports":[{"port":80}]}`,
		rbac + "namespaces/default/roles": "", rbac + "clusterroles": "", rbac + "namespaces/default/rolebindings": role, rbac + "clusterrolebindings": role,
		"/apis/node.platform.io/v1/runtimeclasses": `,"handler":"h"`,
		"/apis/events.platform.io/v1/namespaces/default/events": `,"regarding":{"namespace":"default"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"a.b/c",` +
			`"reportingInstance":"i","action":"a","reason":"r","type":"Normal"`,
	} {
		name := "x"
		if strings.HasPrefix(collection, "/apis/events") {
			name = "y"
		}
		with := func(metadata string) string {
			return `{"metadata":{"name":"` + name + `"` + metadata + `}` + rest + `}`
		}
		f := statusOf(t, s.send(t, 409, http.MethodPut, collection+"/"+name, client.JSON, with(`,"uid":"other"`)))
		if f.Reason != "Conflict" || !strings.HasSuffix(f.Message, `"`+name+`": Precondition failed: UID in precondition: other, UID in object meta: `) {
			t.Errorf("%s: %s %s", collection, f.Reason, f.Message)
		}
		s.get(t, 404, collection+"/"+name)
		s.send(t, 201, http.MethodPut, collection+"/"+name, client.JSON, with(""))
	}
}

// TestEventNames: in the core group they may be any segment of a path, as clients derive them from names of any objects.
func TestEventNames(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const core, group = "/api/v1/namespaces/default/events", "/apis/events.platform.io/v1/namespaces/default/events"
	about := func(metadata string) string {
		return `{"metadata":{` + metadata + `},"involvedObject":{"namespace":"default"}}`
	}
	newer := func(metadata string) string {
		return `{"metadata":{` + metadata + `},"regarding":{"namespace":"default"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"a.b/c","reportingInstance":"i","action":"a","reason":"r","type":"Normal"}`
	}
	for _, name := range []string{"system:x.17abc", "Upper.1", "a_b.1", strings.Repeat("a", 254)} {
		s.send(t, 201, http.MethodPost, core, client.JSON, about(`"name":"`+name+`"`))
		f := statusOf(t, s.send(t, 422, http.MethodPost, group, client.JSON, newer(`"name":"new-`+name+`"`)))
		if !strings.HasPrefix(f.Message, `Event "new-`+name+`" is invalid: metadata.name: Invalid value`) { // without a group
			t.Error(f.Message)
		}
		for _, path := range []string{core, group} {
			s.get(t, 200, path+"/"+name)
		}
		s.send(t, 200, http.MethodPatch, group+"/"+name, client.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`)
		s.send(t, 200, http.MethodPatch, core+"/"+name, client.MergePatch, `{"count":2}`)
		s.send(t, 200, http.MethodDelete, core+"/"+name, "", nil)
	}
	if name := s.send(t, 201, http.MethodPost, core, client.JSON, about(`"generateName":"a."`)).Object().Name(); !strings.HasPrefix(name, "a.") {
		t.Errorf("generated %q", name)
	}
	s.send(t, 422, http.MethodPost, group, client.JSON, newer(`"generateName":"a_"`))
	for _, name := range []string{"a/b", "a%b", ".", ".."} {
		s.send(t, 422, http.MethodPost, core, client.JSON, about(`"name":"`+name+`"`))
	}
}
