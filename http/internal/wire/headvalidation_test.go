package wire

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestIsHost(t *testing.T) {
	for host, want := range map[string]bool{
		"": true, "a": true, "a.b:1": true, "127.0.0.1": true, "[::1]": true, "[::1]:6443": true,
		"[::1": false, "[::1]x": false, "[": false, "a b": false, "a/b": false, "a\x00": false,
	} {
		if got := isHost([]byte(host)); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	for _, lines := range []string{
		"Host: a\r\n\r\n", "Host: a\r\nHost: b\r\n\r\n", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "Authorization: x\r\nauthorization: y\r\n\r\n", "a : b\r\n", "Impersonate-User: x\r\n\r\n", " a\r\n", "\r\n", "a:\x00\r\n", ":\r\n",
	} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		if _, err := validateHeaderLines(lines); err != nil {
			if code := meta.AsStatus(err).Code; code != 400 && code != 401 && code != 403 {
				t.Fatalf("%d %v", code, err)
			}
		}
	})
}
