package extension

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestEveryVerb checks all verbs through every version.
func TestEveryVerb(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
	created := s.Send(201, "POST", routesV2, client.JSON, v2("b", "other:81")).Object()
	s.want(created, `"apiVersion":"example.com/v2"`)
	s.wantSpec(routesV1+"/b", `{"host":"other","port":"81","proto":"tcp"}`)

	list := s.Send(200, "GET", routesV2, "", "").Object()
	s.want(list, `"apiVersion":"example.com/v2"`)
	s.want(list, `"hostPort":"host:80"`)
	chunk := s.Send(200, "GET", routesV2+"?limit=1", "", "").Object()
	next := chunk.Metadata()["continue"].(string)
	s.want(s.Send(200, "GET", routesV2+"?limit=1&continue="+next, "", "").Object(), `"hostPort":"other:81"`)

	o := s.Send(200, "GET", routesV2+"/a", "", "").Object()
	text := strings.Replace(o.String(), "host:80", "new:82", 1)
	s.want(s.Send(200, "PUT", routesV2+"/a", client.JSON, text).Object(), `"hostPort":"new:82"`)
	s.wantSpec(routesV1+"/a", `{"host":"new","port":"82","proto":"tcp"}`)
	s.Send(200, "PATCH", routesV2+"/a", typeMerge, `{"spec":{"hostPort":"merged:83","replicas":3}}`)
	s.wantSpec(routesV1+"/a", `{"host":"merged","port":"83","proto":"tcp","replicas":3}`)
	s.Send(200, "PATCH", routesV2+"/a", typeJSON, `[{"op":"test","path":"/spec/hostPort","value":"merged:83"},{"op":"replace","path":"/spec/hostPort","value":"json:84"}]`)
	s.wantSpec(routesV1+"/a", `{"host":"json","port":"84","proto":"tcp","replicas":3}`)

	s.want(s.Send(200, "PATCH", routesV2+"/a/status", typeMerge, `{"spec":{"hostPort":"x:1"},"status":{"replicas":2}}`).Object(), `"hostPort":"json:84"`)
	scale := s.Send(200, "GET", routesV2+"/a/scale", "", "").Object()
	s.want(scale, `"spec":{"replicas":3},"status":{"replicas":2}`)
	s.want(s.Send(200, "PATCH", routesV2+"/a/scale", typeMerge, `{"spec":{"replicas":5}}`).Object(), `"replicas":5`)
	s.wantSpec(routesV1+"/a", `{"host":"json","port":"84","proto":"tcp","replicas":5}`)

	h.take()
	s.Send(200, "DELETE", routesV2+"/a", client.JSON, `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"`+o.UID()+`"}}`)
	s.Send(404, "GET", routesV1+"/a", "", "")
	s.Send(200, "DELETE", routesV2, "", "")
	s.Send(404, "GET", routesV2+"/b", "", "")
	if asked := h.take(); len(asked) > 0 {
		t.Errorf("%d questions to delete", len(asked))
	}
}

// TestRepresentations checks that tables and PartialObjectMetadata use the requested version.
func TestRepresentations(t *testing.T) {
	t.Parallel()
	s, h := serveConversion(t, nil), startConversion(t)
	s.define(routes{clientConfig: h.clientConfig()})
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	s.Send(200, "PATCH", conversionDefinitions+"/routes.example.com", typeJSON,
		`[{"op":"add","path":"/spec/versions/1/additionalPrinterColumns","value":[{"name":"At","type":"string","jsonPath":".spec.hostPort"}]}]`)
	for _, accept := range []string{"application/json;as=Table;v=v1;g=meta.platform.io", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.platform.io"} {
		a, err := s.GetAs(s.Ctx, routesV2, accept)
		if err != nil || a.Code != 200 {
			t.Fatal(a, err)
		}
		want := `"cells":["a","host:80"]`
		if strings.Contains(accept, "Partial") {
			want = `"name":"a"`
		}
		if !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %s, want %s", accept, a.Body, want)
		}
	}
}

// TestWritesAreOfTheirVersion checks that a write is validated against the schema of its version. A
// no-op write does not change the stored object.
func TestWritesAreOfTheirVersion(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	for path, body := range map[string]string{routesV2: v2("a", "x"), routesV2 + "?fieldValidation=Strict": v1Conversion("a", "h", "1")} {
		a, err := s.Do(s.Ctx, "POST", path, client.JSON, []byte(strings.Replace(body, "example.com/v1", "example.com/v2", 1)))
		if err != nil || a.Code != 422 && a.Code != 400 {
			t.Errorf("%s: %s, %v", path, a, err)
		}
	}
	o := s.Send(201, "POST", routesV2, client.JSON, v2("a", "host:80")).Object()
	h.take()
	again := s.Send(200, "PUT", routesV2+"/a", client.JSON, o.String()).Object()
	if again.Version() != o.Version() {
		t.Errorf("a PUT without a change: %s became %s", o, again)
	}
	dry := s.Send(200, "PATCH", routesV2+"/a?dryRun=All", typeMerge, `{"spec":{"hostPort":"dry:1"}}`).Object()
	s.want(dry, `"hostPort":"dry:1"`)
	s.wantSpec(routesV1+"/a", `{"host":"host","port":"80","proto":"tcp"}`)
	s.Send(409, "PUT", routesV2+"/a", client.JSON, strings.Replace(o.String(), `"resourceVersion":"`, `"resourceVersion":"1`, 1))
	s.Send(409, "POST", routesV2, client.JSON, v2("a", "host:80"))
	s.Send(404, "PATCH", routesV2+"/nobody", typeMerge, `{}`)
}

// TestQuestions checks that a ConversionReview has a version that the webhook supports, and
// contains only objects that need a conversion.
func TestQuestions(t *testing.T) {
	t.Parallel()
	for reviewVersions, want := range map[string]string{`"v1"`: "v1", `"v1beta1","v1"`: "v1beta1", `"v9","v1"`: "v1"} {
		s, h := serveConversion(t, nil), startConversion(t)
		s.define(routes{clientConfig: h.clientConfig(), reviewVersions: reviewVersions})
		for i := range 3 {
			s.Send(201, "POST", routesV1, client.JSON, v1Conversion(fmt.Sprint("r", i), "host", "80"))
		}
		s.Send(200, "GET", routesV1, "", "")
		if asked := h.take(); len(asked) > 0 {
			t.Errorf("%d questions about the stored version", len(asked))
		}
		s.Send(200, "GET", routesV2, "", "")
		asked := h.take()
		if len(asked) != 1 || len(asked[0].Request.Objects) != 3 {
			t.Fatalf("%d questions: %+v", len(asked), asked)
		}
		r := asked[0]
		if r.APIVersion != "apiextensions.platform.io/"+want || r.Kind != "ConversionReview" || r.Request.UID == "" || r.Request.DesiredAPIVersion != "example.com/v2" || r.query != "timeout=30s" {
			t.Errorf("asked %+v", r)
		}
		s.want(r.Request.Objects[1], `"apiVersion":"example.com/v1","kind":"Route"`)
		s.want(r.Request.Objects[1], `"spec":{"host":"host","port":"80","proto":"tcp"}`)
		s.Send(200, "GET", routesV2, "", "")
		s.Send(200, "GET", routesV2+"/r1", "", "")
		if again := h.take(); len(again) > 0 {
			t.Errorf("%d questions about what is known", len(again))
		}
	}
}

// TestSelectors checks that field selectors use the requested version, and label selectors the
// labels set by the webhook.
func TestSelectors(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(200, "PATCH", conversionDefinitions+"/routes.example.com", typeJSON, `[{"op":"add","path":"/spec/versions/1/selectableFields","value":[{"jsonPath":".spec.hostPort"}]}]`)
	h.set(lie(func(r *review) {
		for _, o := range r.Response.ConvertedObjects {
			if host, _ := o["spec"].(conversionObject)["hostPort"].(string); host != "" {
				o["metadata"].(conversionObject)["labels"] = conversionObject{"host": strings.Split(host, ":")[0]}
			}
		}
	}))
	from := s.Send(200, "GET", routesV1, "", "").Object().Version()
	for i := range 7 {
		s.Send(201, "POST", routesV1, client.JSON, v1Conversion(fmt.Sprint("r", i), fmt.Sprint("h", i%2), fmt.Sprint(i)))
	}
	names := func(path string) string {
		t.Helper()
		var all []string
		for query := ""; ; {
			l := s.Send(200, "GET", path+query, "", "").Object()
			for _, v := range l["items"].([]any) {
				all = append(all, v.(conversionObject)["metadata"].(conversionObject)["name"].(string))
			}
			next, _ := l.Metadata()["continue"].(string)
			if next == "" {
				return strings.Join(all, " ")
			}
			query = "&continue=" + next
		}
	}
	for query, want := range map[string]string{
		"?labelSelector=host%3Dh1": "r1 r3 r5", "?labelSelector=host%3Dh0&limit=2": "r0 r2 r4 r6",
		"?fieldSelector=spec.hostPort%3Dh1:3": "r3", "?fieldSelector=metadata.name%3Dr2": "r2", "?labelSelector=host%3Dh9": "",
	} {
		if got := names(routesV2 + query); got != want {
			t.Errorf("%s selects %q, want %q", query, got, want)
		}
	}
	w, err := s.Watch(s.Ctx, routesV2, map[string][]string{"labelSelector": {"host=h1"}, "resourceVersion": {fmt.Sprint(from)}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s.Send(200, "PATCH", routesV1+"/r1", typeMerge, `{"spec":{"host":"h0"}}`)
	s.Send(200, "PATCH", routesV1+"/r0", typeMerge, `{"spec":{"host":"h1"}}`)
	s.Send(200, "DELETE", routesV1+"/r3", "", "")
	for _, want := range []string{"ADDED r1 h1:1", "ADDED r3 h1:3", "ADDED r5 h1:5", "DELETED r1 h1:1", "ADDED r0 h1:0", "DELETED r3 h1:3"} {
		e, err := w.Next()
		if got := fmt.Sprint(e.Type, " ", e.Object.Name(), " ", e.Object["spec"].(conversionObject)["hostPort"]); err != nil || got != want {
			t.Errorf("%s, want %s, %v", got, want, err)
		}
	}
	s.Send(200, "DELETE", routesV2+"?labelSelector=host%3Dh1", "", "")
	if got := names(routesV1 + "?limit=500"); got != "r1 r2 r4 r6" {
		t.Errorf("left after deleting by label: %s", got)
	}
}
