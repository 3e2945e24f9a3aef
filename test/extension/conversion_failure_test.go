package extension

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/troupe-api/troupe/test/client"
)

const (
	failed   = "conversion webhook for example.com/v1, Kind=Route failed: "
	returned = "conversion webhook for example.com/v1, Kind=Route returned "
)

// TestLies checks that invalid webhook responses have no effect, and that error messages match
// those of kube-apiserver.
func TestLies(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	metadata := func(change func(m conversionObject)) func(*review) {
		return func(r *review) { change(r.Response.ConvertedObjects[0]["metadata"].(conversionObject)) }
	}
	first := func(name string, v any) func(*review) {
		return func(r *review) { r.Response.ConvertedObjects[0][name] = v }
	}
	long := strings.Repeat("x", 1<<20)
	for _, test := range []struct {
		lie  func(r *review)
		want string
	}{
		{func(r *review) { r.Response.UID = "x" }, failed + `expected response.uid="`},
		{func(r *review) { r.APIVersion = "" }, failed + "expected webhook response of apiextensions.platform.io/v1, Kind=ConversionReview, got /, Kind=ConversionReview"},
		{func(r *review) { r.Kind = "AdmissionReview" }, failed + "expected webhook response of apiextensions.platform.io/v1, Kind=ConversionReview, got apiextensions.platform.io/v1, Kind=AdmissionReview"},
		{func(r *review) { r.Response = nil }, failed + "no response provided"},
		{func(r *review) { r.Response.Result = conversionObject{"status": "Failure", "message": "I cannot"} }, failed + "I cannot"},
		{func(r *review) { r.Response.Result = conversionObject{"status": "Failure", "message": long} }, failed + "x"},
		{first("kind", long), returned + "invalid object at index 0: invalid kind (expected Route, received xxxx"},
		{metadata(func(m conversionObject) { m["uid"] = long }), returned + "invalid object: must have the same UID: "},
		{func(r *review) { r.Response.Result = conversionObject{"status": "Failure"} }, failed + "response.result.status was 'Failure', not 'Success'"},
		{func(r *review) { r.Response.Result = nil }, failed + "response.result.status was '', not 'Success'"},
		{func(r *review) { r.Response.ConvertedObjects = nil }, returned + "0 objects, expected 1"},
		{func(r *review) { r.Response.ConvertedObjects = append(r.Response.ConvertedObjects, conversionObject{}) }, returned + "2 objects, expected 1"},
		{first("apiVersion", "example.com/v1"), returned + "invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)"},
		{first("kind", "Other"), returned + "invalid object at index 0: invalid kind (expected Route, received Other)"},
		{metadata(func(m conversionObject) { m["name"] = "b" }), returned + "invalid object: must have the same name: a != b"},
		{metadata(func(m conversionObject) { m["namespace"] = "b" }), returned + "invalid object: must have the same namespace: default != b"},
		{metadata(func(m conversionObject) { m["uid"] = "b" }), returned + "invalid object: must have the same UID: "},
		{metadata(func(m conversionObject) { m["labels"] = conversionObject{"a": "not a label!"} }), returned + "invalid metadata: metadata.labels: Invalid value"},
		{metadata(func(m conversionObject) { m["annotations"] = conversionObject{"a": 1} }), returned + "invalid metadata: metadata.annotations[a] must be a string, but is int64 in converted object"},
		{metadata(func(m conversionObject) { m["labels"] = "x" }), returned + "invalid metadata: invalid metadata.labels of type string in converted object"},
	} {
		h.set(lie(test.lie))
		for _, a := range []client.Answer{
			s.Send(500, "GET", routesV2+"/a", "", ""),
			s.Send(500, "PATCH", routesV2+"/a", typeMerge, `{"spec":{"hostPort":"new:1"}}`),
			s.Send(500, "GET", routesV2, "", ""),
		} {
			if !strings.HasPrefix(message(a), test.want) || len(a.Body) > 8<<10 || strings.Contains(string(a.Body), `"reason"`) {
				t.Errorf("%.4000s, want %s", a, test.want)
			}
		}
	}
	h.set(convertRoutes)
	s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
}

// TestMetadataIsRestored checks that a webhook can change only labels and annotations in the
// metadata. Fields that are not in the schema are pruned.
func TestMetadataIsRestored(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	before := s.Send(201, "POST", routesV1, client.JSON, strings.Replace(v1Conversion("a", "host", "80"), `"name":"a"`, `"name":"a","labels":{"gone":"x"},"finalizers":["example.com/f"]`, 1)).Object()
	h.set(lie(func(r *review) {
		o := r.Response.ConvertedObjects[0]
		o["metadata"] = conversionObject{"name": "a", "namespace": "default", "uid": before.UID(), "labels": conversionObject{"new": "y"}, "annotations": conversionObject{"n": "z"}, "generation": 99, "finalizers": []string{}}
		o["spec"].(conversionObject)["unknown"] = 1
		o["more"] = 2
	}))
	o := s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
	for _, part := range []string{`"labels":{"new":"y"}`, `"annotations":{"n":"z"}`, `"generation":1`, `"finalizers":["example.com/f"]`, `"resourceVersion":"` + before.Metadata()["resourceVersion"].(string)} {
		s.want(o, part)
	}
	if o["more"] != nil {
		t.Errorf("%s", o)
	}
}

// TestFailureOfOneOfMany checks that the error for a batch contains the index of the failed object.
func TestFailureOfOneOfMany(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	for i := range 3 {
		s.Send(201, "POST", routesV1, client.JSON, v1Conversion(fmt.Sprint("r", i), "host", "80"))
	}
	h.set(lie(func(r *review) { r.Response.ConvertedObjects[1]["kind"] = "Other" }))
	const want = "conversion webhook for example.com/v1, Kind=RouteList returned invalid converted object at index 1: invalid kind (expected Route, received Other)"
	if a := s.Send(500, "GET", routesV2, "", ""); message(a) != want {
		t.Errorf("%s, want %s", a, want)
	}
}

// TestBadWebhooks checks that a failing webhook affects only requests that need a conversion.
func TestBadWebhooks(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		answer func(review, http.ResponseWriter, *http.Request)
		want   string
	}{
		"redirect": {func(_ review, w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, "/other", http.StatusTemporaryRedirect)
		}, "the server responded with the status code 307 but did not return more information"},
		"huge": {func(_ review, w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, "the response exceeds 16777216 bytes"},
		"closing":   {func(review, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"no JSON":   {func(_ review, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "couldn't get version/kind; json parse error"},
		"an error":  {func(_ review, w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", 500) }, `an error on the server ("oops") has prevented the request from succeeding`},
		"not found": {func(_ review, w http.ResponseWriter, _ *http.Request) { http.Error(w, "", 404) }, "the server could not find the requested resource"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := routed(t)
			s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
			h.set(answer.answer)
			for _, a := range []client.Answer{s.Send(500, "GET", routesV2+"/a", "", ""), s.Send(500, "PUT", routesV2+"/a", client.JSON, v2("a", "b:1"))} {
				if !strings.HasPrefix(message(a), failed) || !strings.Contains(message(a), answer.want) {
					t.Errorf("%s, want %s", a, answer.want)
				}
			}
			if a := s.Send(500, "POST", routesV2, client.JSON, v2("b", "b:1")); !strings.HasPrefix(message(a), "conversion webhook for example.com/v2, Kind=Route failed: ") {
				t.Errorf("a create: %s", a)
			}
			s.Send(404, "GET", routesV1+"/b", "", "")
			s.Send(200, "PATCH", routesV1+"/a", typeMerge, `{"spec":{"host":"new"}}`)
			s.Send(200, "DELETE", routesV2+"/a", "", "")
		})
	}
}

// TestUntrustedWebhook checks that a webhook with an untrusted certificate is not called.
func TestUntrustedWebhook(t *testing.T) {
	t.Parallel()
	s, h := serveConversion(t, nil), startConversion(t)
	s.define(routes{clientConfig: strings.Replace(h.clientConfig(), h.bundle, startConversion(t).bundle, 1)})
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	if a := s.Send(500, "GET", routesV2+"/a", "", ""); !strings.Contains(message(a), "x509: ") || !strings.Contains(message(a), `Post "`+h.URL+`/convert?timeout=30s"`) {
		t.Error(a)
	}
	if len(h.take()) > 0 {
		t.Error("it was asked")
	}
	s.Send(200, "PATCH", conversionDefinitions+"/routes.example.com", typeJSON, `[{"op":"replace","path":"/spec/conversion/webhook/clientConfig/caBundle","value":"`+h.bundle+`"}]`)
	s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
}

func stuck(t *testing.T) func(review, http.ResponseWriter, *http.Request) {
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	return func(_ review, _ http.ResponseWriter, q *http.Request) {
		select {
		case <-ended:
		case <-q.Context().Done():
		}
	}
}

// TestNothingElseWaits checks that an unresponsive webhook delays only requests that need a
// conversion. It must not delay other versions, garbage collection, the deletion of namespaces and
// CRDs, or shutdown and startup.
func TestNothingElseWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() (*client.Server, conversionSession) {
		server := client.Serve(t, dir, nil)
		ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
		t.Cleanup(cancel)
		return server, conversionSession{client.Session{Server: server, T: t, Ctx: ctx}}
	}
	server, s := open()
	h := startConversion(t)
	s.define(routes{clientConfig: h.clientConfig(), versions: "v0 v1 v2", stored: "v0"})
	s.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}`)
	inN := strings.Replace(routesV2, "default", "n", 1)
	old := s.Send(201, "POST", routesV2, client.JSON, v2("old", "host:80")).Object()
	s.Send(201, "POST", inN, client.JSON, strings.Replace(v2("old", "host:80"), `"name":"old"`, `"name":"old","finalizers":["example.com/hold"]`, 1))
	s.redefine(200, routes{clientConfig: h.clientConfig(), versions: "v0 v1 v2"})
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	h.set(stuck(t))
	h.take()

	waiting := make(chan error, 3)
	for _, ask := range []func(context.Context) (client.Answer, error){
		func(ctx context.Context) (client.Answer, error) { return s.Client.Get(ctx, routesV2) },
		func(ctx context.Context) (client.Answer, error) { return s.Client.Get(ctx, routesV1+"/old") },
		func(ctx context.Context) (client.Answer, error) {
			return s.Do(ctx, "PATCH", routesV2+"/a", typeMerge, []byte(`{"spec":{"hostPort":"x:1"}}`))
		},
	} {
		go func() {
			a, err := ask(s.Ctx)
			if err == nil && a.Code < 500 {
				err = errors.New(a.String())
			} else {
				err = nil
			}
			waiting <- err
		}()
	}
	client.Eventually(t, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.asked) < 2 { // the patch may wait for the same conversion as the list
			return fmt.Errorf("%d questions", len(h.asked))
		}
		return nil
	})
	for i := range 5 {
		s.Send(200, "PATCH", routesV1+"/a", typeMerge, fmt.Sprintf(`{"spec":{"host":"h%d"}}`, i))
	}
	s.wantSpec(routesV1+"/a", `{"host":"h4","port":"80","proto":"tcp"}`)
	// The foreground deletion of the old route completes only after the garbage collector deletes
	// its dependent.
	s.Send(201, "POST", routesV1, client.JSON, strings.Replace(v1Conversion("owned", "h", "1"), `"name":"owned"`,
		`"name":"owned","ownerReferences":[{"apiVersion":"example.com/v0","kind":"Route","name":"old","uid":"`+old.UID()+`","blockOwnerDeletion":true}]`, 1))
	s.Send(200, "DELETE", "/apis/example.com/v0/namespaces/default/routes/old", client.JSON, `{"propagationPolicy":"Foreground"}`)
	gone := func(path string) {
		t.Helper()
		client.Eventually(t, func() error {
			if a, err := s.Client.Get(s.Ctx, path); err != nil || a.Code != 404 {
				return fmt.Errorf("%s: %v, %v", path, a, err)
			}
			return nil
		})
	}
	gone(routesV1 + "/owned")
	gone("/apis/example.com/v0/namespaces/default/routes/old")
	// The namespace controller deletes the content and reports the object with a finalizer, without
	// conversions.
	s.Send(200, "DELETE", "/api/v1/namespaces/n", "", "")
	client.Eventually(t, func() error {
		a, err := s.Client.Get(s.Ctx, "/api/v1/namespaces/n")
		if err != nil || !strings.Contains(string(a.Body), "example.com/hold in 1 resource instances") {
			return fmt.Errorf("%v, %v", a, err)
		}
		return nil
	})

	quick := client.Quick(t, 15*time.Second, "the end of the daemon")
	server.Stop(t)
	quick()
	for range 3 {
		if err := <-waiting; err != nil {
			t.Error(err)
		}
	}
	_, s = open()
	s.wantSpec(routesV1+"/a", `{"host":"h4","port":"80","proto":"tcp"}`)
	s.Send(200, "DELETE", conversionDefinitions+"/routes.example.com", "", "")
	client.Eventually(t, func() error {
		a, err := s.Client.Get(s.Ctx, conversionDefinitions+"/routes.example.com")
		if err != nil || a.Code == 404 {
			return err
		}
		return s.release(inN + "/old")
	})
}

// release removes the finalizers of a route through its storage version v0, which needs no
// conversion. It returns nil once the route and its CRD are deleted.
func (s conversionSession) release(path string) error {
	path = strings.Replace(path, "/v2/", "/v0/", 1)
	if a, err := s.Do(s.Ctx, "PATCH", path, typeMerge, []byte(`{"metadata":{"finalizers":null}}`)); err != nil || a.Code != 404 {
		return fmt.Errorf("%v, %v", a, err)
	}
	return errors.New("the definition is still there")
}

// TestStrangeAnswers checks that an unusual response causes an error or results in a valid object.
// The stored object must stay readable.
func TestStrangeAnswers(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	o := s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80")).Object()
	metadata := fmt.Sprintf(`{"name":"a","namespace":"default","uid":%q}`, o.UID())
	for name, spec := range map[string]string{
		"not UTF-8":        "{\"hostPort\":\"\xff\xfe\"}",
		"nulls":            `{"hostPort":null,"proto":null}`,
		"a wrong type":     `{"hostPort":{"a":[1,2,{}]},"replicas":"many"}`,
		"no object":        `[1]`,
		"a large number":   `{"replicas":123456789012345678901234567890}`,
		"a bomb":           strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000),
		"duplicates":       `{"hostPort":"a:1","hostPort":"b:2"}`,
		"control":          `{"hostPort":"\u0000\u001b[31m"}`,
		"a long text":      `{"hostPort":"` + strings.Repeat("x", 5<<20) + `"}`,
		"a lone surrogate": `{"hostPort":"\ud800"}`,
	} {
		h.set(func(r review, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"apiVersion":%q,"kind":"ConversionReview","response":{"uid":%q,"result":{"status":"Success"},"convertedObjects":[{"apiVersion":"example.com/v2","kind":"Route","metadata":%s,"spec":%s}]}}`,
				r.APIVersion, r.Request.UID, metadata, spec)
		})
		s.Send(200, "PATCH", routesV1+"/a", typeMerge, fmt.Sprintf(`{"metadata":{"labels":{"n":"x%d"}}}`, len(spec)))
		a, err := s.Client.Get(s.Ctx, routesV2+"/a")
		if err != nil || a.Code != 200 && a.Code != 500 {
			t.Errorf("%s: %v, %v", name, a.Code, err)
		}
		if a.Code == 500 && !strings.HasPrefix(message(a), "conversion webhook for ") {
			t.Errorf("%s: %s", name, a)
		}
		if a.Code == 200 && (!strings.HasPrefix(string(a.Body), `{"kind":"Route"`) || !utf8.Valid(a.Body)) {
			t.Errorf("%s: %.200s", name, a.Body)
		}
		t.Logf("%s: %d %.150s", name, a.Code, message(a))
		s.Send(200, "GET", routesV1+"/a", "", "")
	}
}

// TestDefinitionChangesMeanwhile changes the storage version of a CRD while a write waits for the
// conversion webhook. The write succeeds or conflicts, and the object stays readable and writable
// until the CRD is deleted.
func TestDefinitionChangesMeanwhile(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	asked, gate := make(chan struct{}, 100), make(chan struct{})
	h.set(func(r review, w http.ResponseWriter, q *http.Request) {
		asked <- struct{}{}
		<-gate
		convertRoutes(r, w, q)
	})
	answers := make(chan client.Answer, 1)
	go func() {
		a, _ := s.Do(s.Ctx, "PATCH", routesV2+"/a", typeMerge, []byte(`{"spec":{"replicas":1}}`))
		answers <- a
	}()
	<-asked
	s.redefine(200, routes{clientConfig: h.clientConfig(), stored: "v2"})
	close(gate)
	if a := <-answers; a.Code != 200 && a.Code != 409 {
		t.Error(a)
	}
	o := s.Send(200, "GET", routesV2+"/a", "", "").Object()
	s.want(o, `"hostPort":"host:80"`)
	s.Send(200, "PATCH", routesV2+"/a", typeMerge, `{"spec":{"hostPort":"next:1"}}`)
	s.want(s.Send(200, "GET", routesV1+"/a", "", "").Object(), `"host":"next"`)
	s.Send(200, "DELETE", conversionDefinitions+"/routes.example.com", "", "")
	s.Send(404, "GET", routesV2+"/a", "", "")
}
