package http_test

import (
	"context"
	nethttp "net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
)

var corsHeaderNames = []string{
	"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers",
	"Access-Control-Expose-Headers", "Access-Control-Allow-Credentials",
}

func TestCORS(t *testing.T) {
	f := serve(t, func(o *http.Options) {
		o.AllowedOrigins = []*regexp.Regexp{regexp.MustCompile(`^https://console\.example\.com$`), regexp.MustCompile(`//localhost(:|$)`)}
	})
	for _, test := range []struct {
		name, method, path, origin, token string
		code                              int
		allowed                           bool
	}{
		{"preflight", "OPTIONS", configMapsPath, "https://console.example.com", "", 204, true},
		{"preflight with a bad credential", "OPTIONS", configMapsPath, "https://console.example.com", "bad", 204, true},
		{"preflight of what is not there", "OPTIONS", "/none", "http://localhost:8080", "", 204, true},
		{"preflight of another origin", "OPTIONS", configMapsPath, "https://console.example.com.evil.org", "", 405, false},
		{"preflight of another origin without credential", "OPTIONS", configMapsPath, "https://evil.org", "bad", 401, false},
		{"preflight of none", "OPTIONS", configMapsPath, "", "", 405, false},
		{"read", "GET", configMapsPath, "https://console.example.com", "", 200, true},
		{"read of a port", "GET", configMapsPath, "http://localhost:8080", "", 200, true},
		{"read of another origin", "GET", configMapsPath, "http://localhost.evil.org", "", 200, false},
		{"read of the origin null", "GET", configMapsPath, "null", "", 200, false},
		{"read of no origin", "GET", configMapsPath, "", "", 200, false},
		{"a refusal", "GET", configMapsPath, "https://console.example.com", "jane", 403, true},
		{"a bad credential", "GET", configMapsPath, "https://console.example.com", "bad", 401, true},
		{"a watch", "GET", configMapsPath + "?watch=1&timeoutSeconds=1", "https://console.example.com", "", 200, true},
		{"a watch of another origin", "GET", configMapsPath + "?watch=1&timeoutSeconds=1", "https://evil.org", "", 200, false},
	} {
		headers := []string{}
		if test.origin != "" {
			headers = append(headers, "Origin", test.origin)
		}
		if test.token != "" {
			headers = append(headers, "Authorization", "Bearer "+test.token)
		}
		resp, _ := f.do(test.method, test.path, "", headers...)
		if resp.StatusCode != test.code {
			t.Errorf("%s: %d, want %d", test.name, resp.StatusCode, test.code)
		}
		got := slices.DeleteFunc(slices.Clone(corsHeaderNames), func(name string) bool { return resp.Header.Get(name) == "" })
		if want := corsHeaderNames; test.allowed && (!slices.Equal(got, want) || resp.Header.Get(corsHeaderNames[0]) != test.origin) {
			t.Errorf("%s: only %v", test.name, resp.Header)
		}
		if !test.allowed && len(got) > 0 {
			t.Errorf("%s: %v", test.name, resp.Header)
		}
	}
}

func TestNoCORS(t *testing.T) {
	f := serve(t, nil)
	resp, _ := f.do("GET", configMapsPath, "", "Origin", "https://console.example.com")
	for _, name := range corsHeaderNames {
		if resp.Header.Get(name) != "" {
			t.Errorf("%s: %s", name, resp.Header.Get(name))
		}
	}
	if resp.Header.Get("Strict-Transport-Security") != "" {
		t.Error("a header Strict-Transport-Security")
	}
}

// TestStrictTransport tests that every response includes Strict-Transport-Security, even the
// error for a malformed request.
func TestStrictTransport(t *testing.T) {
	const want = "max-age=31536000; includeSubDomains"
	f := serve(t, func(o *http.Options) { o.StrictTransportSecurity = want })
	for path, code := range map[string]int{configMapsPath: 200, "/none": 404, "/%zz": 400, configMapsPath + "?watch=1&timeoutSeconds=1": 200, "/livez": 200} {
		r := must.Get(nethttp.NewRequestWithContext(context.Background(), "GET", f.url, nil))(t)
		r.URL.Opaque = path
		resp := must.Get(f.client.Do(r))(t)
		resp.Body.Close()
		if resp.StatusCode != code || resp.Header.Get("Strict-Transport-Security") != want {
			t.Errorf("%s: %d %v", path, resp.StatusCode, resp.Header)
		}
	}
	resp, _ := f.do("POST", configMapsPath, strings.Repeat(" ", 4<<20))
	if resp.StatusCode != 413 || resp.Header.Get("Strict-Transport-Security") != want {
		t.Errorf("a large body: %d %v", resp.StatusCode, resp.Header)
	}
}
