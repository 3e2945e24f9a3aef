package http_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
)

// sendParts sends parts on a new connection. It returns the status codes, at most answers of them,
// and whether the connection was closed.
func (f *testServer) sendParts(answers int, parts ...string) (codes []int, closed bool) {
	f.Helper()
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(f)
	defer c.Close()
	must.Succeed(f, c.SetDeadline(time.Now().Add(30*time.Second)))
	r := bufio.NewReader(c)
	for n, part := range parts {
		if n > 0 { // wait until the server has sent something
			if _, err := r.Peek(1); err != nil {
				return codes, true
			}
		}
		must.Get(io.WriteString(c, part))(f)
	}
	for len(codes) < answers {
		got, err := nethttp.ReadResponse(r, nil)
		if err != nil {
			return codes, true
		}
		must.Get(io.Copy(io.Discard, got.Body))(f)
		codes = append(codes, got.StatusCode)
		if got.Close {
			_, err := r.ReadByte()
			return codes, err == io.EOF
		}
	}
	return codes, false
}

// TestRequestBodies tests bodies that are read or unread, arrive slowly, or wait for 100 Continue.
func TestRequestBodies(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.Limits.MaxRequestBodyBytes = 1 << 20 })
	body := `{"metadata":{"generateName":"a-"},"data":{"k":"` + strings.Repeat("x", 10_000) + `"}}`
	post := func(headers, framing string) string {
		return "POST " + configMapsPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + headers + framing + "\r\n"
	}
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	var chunks strings.Builder
	for rest := body; rest != ""; {
		n := min(len(rest), 700)
		fmt.Fprintf(&chunks, "%X;a=b\r\n%s\r\n", n, rest[:n])
		rest = rest[n:]
	}
	chunks.WriteString("0\r\n\r\n")
	const (
		jane    = "Authorization: Bearer jane\r\n"
		chunked = "Transfer-Encoding: chunked\r\n"
		waits   = "Expect: 100-continue\r\n"
		get     = "GET /version HTTP/1.1\r\nHost: x\r\n\r\n"
	)
	for _, test := range []struct {
		name    string
		answers int
		parts   []string
		codes   []int
		closed  bool
	}{
		{"one after another", 3, []string{post("", length) + body + post("", length) + body + get}, []int{201, 201, 200}, false},
		{"in chunks", 2, []string{post("", chunked) + chunks.String() + get}, []int{201, 200}, false},
		{"none in chunks", 2, []string{post("", chunked) + "0\r\n\r\n" + get}, []int{400, 200}, false},
		{"not wanted", 2, []string{post(jane, length) + body + get}, []int{403, 200}, false},
		{"not wanted, and late", 2, []string{post(jane, length), body + get}, []int{403, 200}, false},
		{"not wanted in chunks", 2, []string{post(jane, chunked) + chunks.String() + get}, []int{403}, true},
		{"not wanted and large", 2, []string{post(jane, "Content-Length: 900000\r\n")}, []int{403}, true},
		{"of a get", 2, []string{"GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello" + get}, []int{200, 200}, false},
		{"waits", 3, []string{post(waits, length), body + get}, []int{100, 201, 200}, false},
		{"waits in other letters", 3, []string{post("Expect: 100-Continue\r\n", length), body + get}, []int{100, 201, 200}, false},
		{"waits in chunks", 3, []string{post(waits, chunked), chunks.String() + get}, []int{100, 201, 200}, false},
		{"waits in vain", 2, []string{post(jane+waits, length)}, []int{403}, true},
		{"does not wait", 2, []string{post(waits, length) + body + get}, []int{201, 200}, false},
		{"too large", 2, []string{post("", "Content-Length: 1048577\r\n")}, []int{413}, true},
		{"too large in chunks", 2, []string{post("", chunked) + "100001\r\n"}, []int{413}, true},
		{"not wanted, too large", 2, []string{post(jane, "Content-Length: 104857600\r\n")}, []int{403}, true},
		{"a wide head", 2, []string{post("X-A: "+strings.Repeat("x", 20_000)+"\r\n", length) + body + get}, []int{201, 200}, false},
		{"too wide a head", 2, []string{post("X-A: "+strings.Repeat("x", 40_000)+"\r\n", length) + body + get}, []int{431}, true},
		{"empty lines before", 2, []string{"\r\n\r\n" + get + "\r\n" + get}, []int{200, 200}, false},
		{"nothing but empty lines", 2, []string{strings.Repeat("\r\n", 1000)}, []int{400}, true},
		{"the last one", 2, []string{post("Connection: close\r\n", length) + body + get}, []int{201}, true},
		{"the last one, in other words", 2, []string{post("Connection: TE, Close\r\n", length) + body + get}, []int{201}, true},
		{"the last one, for one of two", 2, []string{post("Connection: close\r\nConnection: keep-alive\r\n", length) + body + get}, []int{201}, true},
		{"of the old protocol", 2, []string{"GET /version HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + "GET /version HTTP/1.0\r\n\r\n" + get}, []int{200, 200}, true},
	} {
		codes, closed := f.sendParts(test.answers, test.parts...)
		if fmt.Sprint(codes) != fmt.Sprint(test.codes) || closed != test.closed {
			t.Errorf("%s: %v, closed %t, want %v, %t", test.name, codes, closed, test.codes, test.closed)
		}
	}
	eventually(t, "finished bodies hold memory", func() bool {
		_, metrics := f.do("GET", "/metrics", "")
		return strings.Contains(metrics, "troupe_request_body_bytes 0\n")
	})
}

// TestLongestWatch tests that a watch lasts at most twice MinRequestTimeout, even if the client
// requests a longer timeout.
func TestLongestWatch(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.Limits.MinRequestTimeout = 50 * time.Millisecond })
	f.client.Timeout = 30 * time.Second
	if resp, _ := f.do("GET", configMapsPath+"?watch=1&timeoutSeconds=2000000", ""); resp.StatusCode != 200 {
		t.Errorf("%d", resp.StatusCode)
	}
}

type fixedMemory int64

func (fixedMemory) UnderPressure() bool { return false }
func (r fixedMemory) Available() int64  { return int64(r) }

// TestAnnouncedBodies tests that a body that is announced but not sent uses no memory.
func TestAnnouncedBodies(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.MemoryMonitor = fixedMemory(64 << 20) })
	for range 20 {
		c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(t)
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\nExpect: 100-continue\r\n\r\n", configMapsPath)
		if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, "100 Continue") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	if resp, text := f.do("POST", configMapsPath, configMap("z")); resp.StatusCode != 201 {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	if resp, text := f.do("POST", configMapsPath, configMap("z"), "Expect", "100-continue"); resp.StatusCode != 200 && resp.StatusCode != 201 {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}

func TestHTTP10(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.Limits.MinRequestTimeout = 50 * time.Millisecond })
	f.do("POST", configMapsPath, configMap("a"))
	for _, path := range []string{configMapsPath + "?watch=1&resourceVersion=0", "/openapi/v2", "/openapi/v3/api/v1", configMapsPath + "?pretty=true"} {
		c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(t)
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		fmt.Fprintf(c, "GET %s HTTP/1.0\r\n\r\n", path)
		text, err := io.ReadAll(c)
		head, body, _ := strings.Cut(string(text), "\r\n\r\n")
		if err != nil || !strings.Contains(head, " 200 OK") || strings.Contains(head, "chunked") || strings.HasSuffix(body, "0\r\n\r\n") {
			t.Errorf("%s: %v\n%s\n%.40q", path, err, head, body)
		}
	}
}
