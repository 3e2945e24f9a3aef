package connect

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

const prefix = "/api/v1/namespaces/n/services/s/proxy"

func rewriter() Rewriter {
	return Rewriter{Prefix: prefix, Target: &url.URL{Scheme: "http", Host: "192.0.2.1:80", Path: "/page"}, Host: "api:6443"}
}

func edit(t *testing.T, page, encoding string) string {
	t.Helper()
	var packed bytes.Buffer
	var w io.WriteCloser = nopCloser{&packed}
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&packed)
	case "deflate":
		w, _ = flate.NewWriter(&packed, 1)
	}
	_, _ = io.WriteString(w, page)
	_ = w.Close()
	resp := &http.Response{
		Header:        http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Content-Length": {"1"}},
		ContentLength: int64(packed.Len()), Body: io.NopCloser(&packed),
	}
	if encoding != "" {
		resp.Header.Set("Content-Encoding", encoding)
	}
	must.Succeed(t, rewriter().Edit(resp))
	r := io.Reader(resp.Body)
	switch encoding {
	case "gzip":
		z := must.Get(gzip.NewReader(r))(t)
		r = z
	case "deflate":
		r = flate.NewReader(r)
	}
	text := must.Get(io.ReadAll(r))(t)
	if encoding != "br" && resp.ContentLength != -1 {
		t.Errorf("the length is still %d", resp.ContentLength)
	}
	return string(text)
}

func TestPages(t *testing.T) {
	long := strings.Repeat("x", maxToken+10)
	for page, want := range map[string]string{
		`<!doctype html><p>a &amp; b</p><script>"/x"</script>`: `<!doctype html><p>a &amp; b</p><script>"/x"</script>`,
		`<a href="/x/">`:                    `<a href="` + prefix + `/x/">`,
		`<a href='x' class=y>`:              `<a href='x' class=y>`,
		`<a href="http://192.0.2.1:80/x">`:  `<a href="` + prefix + `/x">`,
		`<img src="https://other/x">`:       `<img src="https://other/x">`,
		`<img src="//other/x">`:             `<img src="//other/x">`,
		`<a href="` + prefix + `/x">`:       `<a href="` + prefix + `/x">`,
		`<a href="/%zz"><FORM ACTION="/y">`: `<a href="/%zz"><form action="` + prefix + `/y">`,
		`<a href="/x"` + long:               `<a href="/x"` + long,
		`<p>` + long + `<a href="/x">`:      `<p>` + long + `<a href="/x">`,
	} {
		for _, encoding := range []string{"", "gzip", "deflate"} {
			if got := edit(t, page, encoding); got != want {
				t.Errorf("%q of %.100s\ngot  %.200s\nwant %.200s", encoding, page, got, want)
			}
		}
	}
	if got := edit(t, `<a href="/x">`, "br"); got != `<a href="/x">` {
		t.Errorf("a page in another compression has become %s", got)
	}
}

func TestRedirects(t *testing.T) {
	for location, want := range map[string]string{
		"/x?a=b#c": prefix + "/x?a=b#c", "x": "x", "http://192.0.2.1:80/": prefix + "/", "https://other/x": "https://other/x",
		"https://api:6443/x": "https://api:6443" + prefix + "/x", prefix + "/x": prefix + "/x",
	} {
		resp := &http.Response{Header: http.Header{"Location": {location}, "Access-Control-Allow-Origin": {"*"}}}
		if err := rewriter().Edit(resp); err != nil || resp.Header.Get("Location") != want || len(resp.Header) != 1 {
			t.Errorf("%s: %v %v", location, resp.Header, err)
		}
	}
	if err := rewriter().Edit(&http.Response{Header: http.Header{"Location": {"http://%zz/"}}}); err == nil {
		t.Error("a malformed redirect is passed on")
	}
}

func TestAllowedAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"192.0.2.1": true, "10.0.0.1": true, "fd00::1": true, "127.0.0.1": false, "::1": false, "::ffff:127.0.0.1": false,
		"169.254.169.254": false, "fe80::1": false, "224.0.0.1": false, "0.0.0.0": false, "255.255.255.255": false, "": false, "x": false,
	} {
		if isAllowed(address) != want {
			t.Errorf("%q is allowed: %v", address, !want)
		}
	}
	for _, address := range []string{"127.0.0.1:1", "localhost:1", "[::1]:1", "169.254.169.254:80"} {
		if _, err := DialMember(t.Context(), "tcp", address); err == nil || !strings.Contains(err.Error(), "address not allowed") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
