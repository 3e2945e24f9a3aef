package policy

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// TestForeignPages checks that a page from another origin cannot write with the browser's client
// certificate or open a WebSocket. Pages from allowed origins and non-browser clients can.
func TestForeignPages(t *testing.T) {
	v := start(t, func(c *daemon.Config) { c.Serving.CORSAllowedOrigins = []string{`^https://console\.example\.com$`} })
	const socket = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	foreign := []string{
		"Origin: https://evil.example\r\n", "Origin: null\r\n", "Origin: http://x\r\n", "Origin: https://x:8443\r\n", "Origin: https://x.evil.example\r\n",
		"Origin: https://console.example.com.evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n",
		"Origin: https://x\r\nSec-Fetch-Site: cross-site\r\n", "Origin: https://\r\n", "Origin: x\r\n",
	}
	own := []string{
		"", "Origin: https://x\r\n", "Origin: https://X:443\r\n", "Origin: https://console.example.com\r\n", "Sec-Fetch-Site: same-origin\r\n",
		"Sec-Fetch-Site: none\r\n", "Origin: https://console.example.com\r\nSec-Fetch-Site: cross-site\r\n",
	}
	post := func(headers string) string {
		body := `{"metadata":{"generateName":"a-"}}`
		return "POST " + configMaps + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 34\r\n" + headers + "\r\n" + body
	}
	remove := func(headers string) string {
		return "DELETE " + configMaps + "/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n"
	}
	watch := func(headers string) string {
		return "GET " + configMaps + "?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\n" + socket + headers + "\r\n"
	}
	for _, headers := range foreign {
		for name, request := range map[string]string{
			"post": post(headers), "post of JSON": post(headers + "Content-Type: application/json\r\n"), "post of text": post(headers + "Content-Type: text/plain\r\n"),
			"delete": remove(headers), "socket": watch(headers),
			"post with an empty token": post(headers + "Authorization: Bearer\r\n"), "post with a blank token": post(headers + "Authorization: Bearer \t\r\n"),
			"delete without a token": remove(headers + "Authorization: Basic x\r\n"),
		} {
			if got := v.raw(v.admin(), request); got.code != 403 || !strings.Contains(got.body, "origin") {
				t.Errorf("%s with %q: %d %.200s, want 403", name, headers, got.code, got.body)
			}
		}
		// A write with a token passes the origin check, because a page from another origin cannot
		// have a token. A WebSocket with a token is rejected.
		bearer := headers + "Authorization: Bearer " + token + "\r\n"
		if got := v.raw(v.anonymous(), post(bearer)); got.code != 403 || !strings.Contains(got.body, "cannot create") {
			t.Errorf("a token with %q: %d %.200s", headers, got.code, got.body)
		}
		if got := v.raw(v.anonymous(), watch(bearer)); got.code != 403 || !strings.Contains(got.body, "origin") {
			t.Errorf("a socket with a token and %q: %d %.200s", headers, got.code, got.body)
		}
		if got := v.raw(v.admin(), "GET "+configMaps+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+headers+"\r\n"); got.code != 200 {
			t.Errorf("a get with %q: %d", headers, got.code)
		}
	}
	for _, headers := range own {
		for name, want := range map[string]int{post(headers): 201, remove(headers): 404, watch(headers): 101} {
			if got := v.raw(v.admin(), name); got.code != want {
				t.Errorf("%.60q with %q: %d %.200s, want %d", name, headers, got.code, got.body, want)
			}
		}
	}
	// Requests without a body and Content-Type, as curl sends them, pass the origin check.
	v.must(404, "DELETE", configMaps+"/nothing", "", "")
	v.must(400, "POST", configMaps, "", "")
}
