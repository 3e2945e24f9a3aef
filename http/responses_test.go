package http_test

import (
	"fmt"
	"io"
	nethttp "net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/cases"
	"github.com/troupe-api/troupe/internal/must"
)

func TestResponses(t *testing.T) {
	f := serve(t, nil)
	for _, c := range cases.Read(t, "testdata/responses.txt") {
		t.Run(c.Name, func(t *testing.T) {
			f := &testServer{TB: t, store: f.store, url: f.url, client: f.client}
			method, path, _ := strings.Cut(c.Lines[0], " ")
			last := len(c.Lines) - 1
			var body string
			var headers []string
			for _, line := range c.Lines[1:last] {
				if text, ok := strings.CutPrefix(line, "body "); ok {
					body = text
					continue
				}
				name, value, _ := strings.Cut(line, ": ")
				headers = append(headers, name, value)
			}
			code, message, _ := strings.Cut(strings.TrimPrefix(c.Lines[last], "=> "), " ")
			f.checkResponse(must.Get(strconv.Atoi(code))(t), strings.ReplaceAll(message, `\n`, "\n"), method, path, body, headers...)
		})
	}
	f.checkResponse(400, "", "POST", configMapsPath, "k8s\x00garbage", "Content-Type", "application/vnd.platform.protobuf")
	f.checkResponse(413, "Request entity too large: limit is 3145728", "POST", configMapsPath, strings.Repeat(" ", 3<<20+1))
}

// checkResponse sends a request and checks the status code. For an error, it also checks the
// message of the Status. Otherwise, the body must contain message.
func (f *testServer) checkResponse(code int, message, method, path, body string, headers ...string) {
	f.Helper()
	resp, text := f.do(method, path, body, headers...)
	switch {
	case resp.StatusCode != code:
		f.Errorf("code %d: %s", resp.StatusCode, text)
	case code < 400:
		if !strings.Contains(text, message) {
			f.Errorf("body %q", text)
		}
	case message == "page not found":
		if text != "404 page not found\n" || resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			f.Errorf("got %q %v", text, resp.Header)
		}
	default:
		if s := f.parseStatus(text); s.Code != code || message != "" && s.Message != message || s.Status != "Failure" {
			f.Errorf("got %+v\nwant %q", s, message)
		}
	}
}

// TestUnfinishedList tests that a list that fails before its first byte is sent results in an error
// response, and that clients detect a later failure.
func TestUnfinishedList(t *testing.T) {
	f := serve(t, nil)
	const table = "application/json;as=Table;g=meta.platform.io;v=v1"
	for n := range 40 {
		f.do("POST", configMapsPath, fmt.Sprintf(`{"metadata":{"name":"a%d"},"data":{"k":%q}}`, n, strings.Repeat("x", 10_000)))
	}
	for _, form := range []struct{ path, accept, coding string }{
		{configMapsPath, table, "identity"}, {configMapsPath, table, "gzip"}, {configMapsPath + "?pretty=1", table, "identity"},
		{configMapsPath + "?includeObject=Object", strings.Replace(table, "json", "yaml", 1), "identity"},
	} {
		f.store.conversions.Store(0)
		f.store.failAt.Store(2)
		resp, text := f.do("GET", form.path, "", "Accept", form.accept, "Accept-Encoding", form.coding)
		if resp.StatusCode != 500 || resp.Header.Get("Content-Encoding") != "" || f.parseStatus(text).Reason != "InternalError" ||
			!strings.Contains(text, resp.Header.Get("Audit-Id")) {
			t.Errorf("%v: %d %.300s", form, resp.StatusCode, text)
		}
	}
	f.store.conversions.Store(0)
	f.store.failAt.Store(30)
	r := must.Get(nethttp.NewRequest("GET", f.url+configMapsPath+"?includeObject=Object", nil))(t)
	r.Header.Set("Accept", table)
	resp := must.Get(f.client.Do(r))(t)
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); resp.StatusCode != 200 || err == nil {
		t.Errorf("%d, and not cut", resp.StatusCode)
	}
}

// TestEarlyErrors tests that errors from filters are encoded as the Accept header requests, with
// JSON as the default.
func TestEarlyErrors(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.CBOR = true })
	for token, code := range map[string]int{"jane": 403, "bad": 401} {
		for accept, want := range map[string]string{
			"application/vnd.platform.protobuf, application/json": "application/vnd.platform.protobuf",
			"application/yaml": "application/yaml", "application/cbor": "application/cbor", "text/html": "application/json",
			"application/json;as=Table;g=meta.platform.io;v=v1,application/yaml": "application/yaml",
		} {
			resp, body := f.do("GET", configMapsPath, "", "Authorization", "Bearer "+token, "Accept", accept)
			if got := resp.Header.Get("Content-Type"); resp.StatusCode != code || got != want || strings.HasPrefix(body, "{") != (want == "application/json") {
				t.Errorf("%s to %s: %d %s %q", accept, token, resp.StatusCode, got, body)
			}
		}
	}
}
