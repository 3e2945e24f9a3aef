package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
)

const remoteDocument = `{"swagger":"2.0","info":{"title":"x"},
"paths":{
	"/apis/ext.example.com/v1/things":{"get":{"operationId":"listThing","parameters":[{"$ref":"#/parameters/limit"},{"name":"q","in":"query","type":"string","uniqueItems":7}],
		"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/ext.Thing"}}},"unknown":{"a":1}},"x-note":{"b":[1,2.5,null]}},
	"/apis/ext.example.com/v2/things":{"get":{"operationId":"other"}},
	"/apis/apps/v1/deployments":{"get":{"operationId":"mine"}},
	"/apis/ext.example.com/v1/odd":7},
"parameters":{"limit":{"name":"limit","in":"query","type":"integer"},"unused":{"name":"u","in":"query"}},
"definitions":{
	"ext.Thing":{"type":"object","properties":{"metadata":{"$ref":"#/definitions/io.platform.apimachinery.pkg.apis.meta.v1.ObjectMeta"},"next":{"$ref":"#/definitions/ext.Thing"},"n":{"type":"integer","maximum":10},"odd":[1]},"required":["n",7]},
	"io.platform.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"type":"object","description":"not ours"},
	"ext.Unused":{"type":"object"}}}`

// TestRemote checks that the document contains exactly the wanted remote paths and their
// references, in both formats. Values of wrong types are omitted, and this server's names take
// precedence.
func TestRemote(t *testing.T) {
	own := documents(meta.Platform)
	r, err := openapi.ReadRemote([]byte(remoteDocument), []string{"/apis/ext.example.com/v1/"})
	if err != nil {
		t.Fatal(err)
	}
	d := own.V2With([]*openapi.Remote{r})
	if d.Hash() == own.V2().Hash() || own.V2With(nil) != own.V2() {
		t.Error("the hash does not tell the documents apart")
	}
	var document struct {
		Paths       map[string]json.RawMessage
		Parameters  map[string]json.RawMessage
		Definitions map[string]json.RawMessage
	}
	if err := json.Unmarshal(plain(t, d.Gzip(openapi.JSON)), &document); err != nil {
		t.Fatal(err)
	}
	want := `{"get":{"operationId":"listThing","parameters":[{"$ref":"#/parameters/limit"},{"in":"query","name":"q","type":"string"}],"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/ext.Thing"}}}},"x-note":{"b":[1,2.5,null]}}`
	if got := string(document.Paths["/apis/ext.example.com/v1/things"]); got != want {
		t.Errorf("the path is\n%s\nwant\n%s", got, want)
	}
	for _, path := range []string{"/apis/ext.example.com/v2/things", "/apis/apps/v1/deployments", "/apis/ext.example.com/v1/odd"} {
		if document.Paths[path] != nil {
			t.Errorf("%s is described", path)
		}
	}
	want = `{"properties":{"metadata":{"$ref":"#/definitions/io.platform.apimachinery.pkg.apis.meta.v1.ObjectMeta"},"n":{"maximum":10,"type":"integer"},"next":{"$ref":"#/definitions/ext.Thing"}},"required":["n"],"type":"object"}`
	if got := string(document.Definitions["ext.Thing"]); got != want {
		t.Errorf("the definition is\n%s\nwant\n%s", got, want)
	}
	if got := string(document.Definitions["io.platform.apimachinery.pkg.apis.meta.v1.ObjectMeta"]); strings.Contains(got, "not ours") {
		t.Errorf("a definition of ours is %s", got)
	}
	if document.Definitions["ext.Unused"] != nil || document.Parameters["unused"] != nil || document.Parameters["limit"] == nil {
		t.Error("there are unreferenced definitions or parameters, or referenced ones are missing")
	}
	if text := string(plain(t, d.Gzip(openapi.Protobuf))); !strings.Contains(text, "listThing") || !strings.Contains(text, "ext.Thing") {
		t.Error("it is not in the Protobuf form")
	}
}

func TestRemoteRefuses(t *testing.T) {
	for _, text := range []string{"", "7", `{"swagger":"3.0"}`, strings.Repeat("[", 20000)} {
		if _, err := openapi.ReadRemote([]byte(text), []string{"/"}); err == nil {
			t.Errorf("%.20s is taken", text)
		}
	}
}

func FuzzRemote(f *testing.F) {
	f.Add([]byte(remoteDocument))
	f.Add([]byte(`{"swagger":"2.0","paths":{"/":{"parameters":[[]],"get":{"tags":7,"parameters":{"in":"body","schema":[{}]},"responses":[1]}}}}`))
	own := documents(meta.Platform)
	f.Fuzz(func(_ *testing.T, text []byte) {
		r, err := openapi.ReadRemote(text, []string{"/"})
		if err != nil {
			return
		}
		d := own.V2With([]*openapi.Remote{r})
		d.Gzip(openapi.JSON)
		d.Gzip(openapi.Protobuf)
	})
}

// TestRemoteInVersion3 checks the conversion of a remote version 2 document to version 3 in both
// formats. The result must contain only the parts to which its paths refer.
func TestRemoteInVersion3(t *testing.T) {
	const text = `{"swagger":"2.0","paths":{
	"/apis/ext.example.com/v1/things":{
		"post":{"operationId":"createThing","consumes":["application/json"],"produces":["application/json","application/yaml"],"schemes":["https"],"deprecated":true,"x-note":{"$ref":"#/definitions/none"},
			"parameters":[{"$ref":"#/parameters/limit"},{"$ref":"#/parameters/none"},{"name":"body","in":"body","required":true,"schema":{"$ref":"#/definitions/ext.Thing"}}],
			"responses":{"201":{"description":"Created","schema":{"$ref":"#/definitions/ext.Thing"}},"401":{"description":"No"}}},
		"get":{"responses":{"200":{"description":"OK","schema":{"type":"string"}}}},
		"parameters":[{"name":"name","in":"path","type":"string","required":true}]},
	"/apis/ext.example.com/v1beta1/things":{"get":{"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/ext.Beta"}}}}}},
"parameters":{"limit":{"name":"limit","in":"query","type":"integer","uniqueItems":true,"description":"at most"}},
"definitions":{
	"ext.Thing":{"type":"object","properties":{
		"default":{"description":"beside","default":{},"$ref":"#/definitions/ext.Part"},"next":{"$ref":"#/definitions/ext.Thing"},
		"$ref":{"type":"array","items":{"$ref":"#/definitions/ext.Part"}},"map":{"type":"object","additionalProperties":{"$ref":"#/definitions/ext.Lost"}}}},
	"ext.Part":{"type":"string","default":"x"},"ext.Beta":{"type":"object"},"ext.Unused":{"type":"object"}}}`
	r, err := openapi.ReadRemote([]byte(text), []string{"/apis/ext.example.com/v1/", "/apis/ext.example.com/v1beta1/"})
	if err != nil {
		t.Fatal(err)
	}
	d := documents(meta.Platform).V3Of(r, "apis/ext.example.com/v1")
	var document struct {
		OpenAPI    string
		Paths      json.RawMessage
		Components struct{ Schemas json.RawMessage }
	}
	if err := json.Unmarshal(plain(t, d.Gzip(openapi.JSON)), &document); err != nil {
		t.Fatal(err)
	}
	const thing = `{"schema":{"$ref":"#/components/schemas/ext.Thing"}}`
	for _, c := range [][2]string{
		{document.OpenAPI, "3.0.0"},
		{string(document.Paths), `{"/apis/ext.example.com/v1/things":{` +
			`"get":{"responses":{"200":{"content":{"*/*":{"schema":{"type":"string"}}},"description":"OK"}}},` +
			`"parameters":[{"in":"path","name":"name","required":true,"schema":{"type":"string"}}],` +
			`"post":{"deprecated":true,"operationId":"createThing","parameters":[{"description":"at most","in":"query","name":"limit","schema":{"type":"integer","uniqueItems":true}}],` +
			`"requestBody":{"content":{"application/json":` + thing + `},"required":true},` +
			`"responses":{"201":{"content":{"application/json":` + thing + `,"application/yaml":` + thing + `},"description":"Created"},"401":{"description":"No"}},"x-note":{"$ref":"#/definitions/none"}}}}`},
		{string(document.Components.Schemas), `{"ext.Part":{"default":"x","type":"string"},"ext.Thing":{"properties":{` +
			`"$ref":{"items":{"$ref":"#/components/schemas/ext.Part"},"type":"array"},` +
			`"default":{"allOf":[{"$ref":"#/components/schemas/ext.Part"}],"default":{},"description":"beside"},` +
			`"map":{"additionalProperties":{"$ref":"#/components/schemas/ext.Lost"},"type":"object"},` +
			`"next":{"$ref":"#/components/schemas/ext.Thing"}},"type":"object"}}`},
	} {
		if got, want := normal(t, c[0]), normal(t, c[1]); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if len(plain(t, d.Gzip(openapi.Protobuf))) == 0 {
		t.Error("no Protobuf")
	}
}

func normal(t *testing.T, text string) string {
	t.Helper()
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
