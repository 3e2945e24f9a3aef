package http_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http"
)

// heldSeries matches the metrics of resources held by requests. The values must be the same before
// and after the stress.
var heldSeries = regexp.MustCompile(`(?m)^(apiserver_current_inflight_requests\{[^}]*\}|apiserver_longrunning_requests[^ ]*|troupe_response_bytes|troupe_request_body_bytes|troupe_connections\{[^}]*\}) (\d+)$`)

// TestStress tests that misbehaving clients leave no slot, budget, connection or goroutine in use.
// The clients disconnect, omit or delay bodies, or do not read lists and watches.
func TestStress(t *testing.T) {
	f := serve(t, func(o *http.Options) {
		o.Limits.MaxRequestsInFlight, o.Limits.MaxMutatingRequestsInFlight = 20, 10
		o.Limits.MaxResponseBytes, o.Limits.MaxTotalBodyBytes, o.Limits.MaxRequestBodyBytes = 1<<20, 1<<20, 1<<20
		o.Limits.ReadTimeout, o.Limits.WriteTimeout, o.Limits.IdleTimeout = time.Second, time.Second, time.Second
		o.Limits.MinRequestTimeout = time.Second
		o.MemoryMonitor = fixedMemory(32 << 20)
	})
	for n := range 64 {
		f.do("POST", configMapsPath, fmt.Sprintf(`{"metadata":{"name":"a%d"},"data":{"k":%q}}`, n, strings.Repeat("x", 20_000)))
	}
	f.client.CloseIdleConnections()
	before := runtime.NumGoroutine()
	const table = "Accept: application/json;as=Table;g=meta.platform.io;v=v1\r\n"
	body := configMap("b")
	write := func(headers, body string) string {
		return "POST " + configMapsPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
	}
	read := func(method, query, headers string) string {
		return method + " " + configMapsPath + query + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n"
	}
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	requests := []string{
		read("GET", "", ""), read("GET", "?pretty=1", ""), read("GET", "", "Accept-Encoding: gzip\r\n"), read("HEAD", "", ""),
		read("GET", "", table), read("GET", "?includeObject=Object", table), read("HEAD", "", table), read("HEAD", "?pretty=1", "Accept-Encoding: gzip\r\n"),
		read("GET", "", "Accept: application/yaml\r\n"), read("GET", "", "Accept: application/vnd.platform.protobuf\r\n"),
		read("GET", "?watch=1", ""), read("GET", "?watch=1&timeoutSeconds=1", ""), read("GET", "/a1", "Accept: application/yaml\r\n"),
		"GET /openapi/v2 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /openapi/v2 HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n",
		read("GET", "?watch=1", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"),
		write(length, body), write(length, body[:3]), write("Content-Length: 900000\r\n", strings.Repeat(" ", 300_000)),
		write("Content-Length: 9000000\r\n", body), write("Authorization: Bearer jane\r\n"+length, body), write("Expect: 100-continue\r\n"+length, ""),
		write("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n"), write("Transfer-Encoding: chunked\r\n", "g\r\n"),
		write("Connection: close\r\n"+length, body), write(length, body) + read("GET", "", "") + read("GET", "?watch=1", "") + "noise",
		"GET /version HTTP/1.1\r\nX-A: " + strings.Repeat("x", 10_000),
	}
	var crowd sync.WaitGroup
	for n := range 32 {
		crowd.Go(func() {
			for i := range 60 {
				f.abuse(requests[(n+i)%len(requests)])
			}
		})
	}
	crowd.Wait()
	var left []string
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); <-tick.C {
		_, text := f.do("GET", "/metrics", "", "Connection", "close")
		left = nil
		for _, series := range heldSeries.FindAllStringSubmatch(text, -1) {
			if series[2] != "0" && !(strings.Contains(series[1], "settled") && series[2] == "1") &&
				!(strings.Contains(series[1], "readOnly") && series[2] == "1") { // the metrics request itself
				left = append(left, series[0])
			}
		}
		if now := runtime.NumGoroutine(); now > before+3 {
			left = append(left, fmt.Sprintf("%d goroutines, %d before", now, before))
		}
		if left == nil {
			break
		}
	}
	if left != nil {
		buf := make([]byte, 1<<20)
		t.Errorf("what is left: %q\n%.8000s", left, buf[:runtime.Stack(buf, true)])
	}
	if resp, _ := f.do("GET", configMapsPath, ""); resp.StatusCode != 200 {
		t.Errorf("afterwards: %d", resp.StatusCode)
	}
}

// abuse sends a request, reads none, some or all of the response, and disconnects.
func (f *testServer) abuse(request string) {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(f.url, "http://"), 10*time.Second)
	if err != nil {
		f.Error(err)
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Duration(rand.IntN(60)) * time.Millisecond))
	if rand.IntN(4) == 0 {
		request = request[:rand.IntN(len(request))]
	}
	_, _ = io.WriteString(c, request)
	switch rand.IntN(4) {
	case 0:
		_, _ = io.Copy(io.Discard, c)
	case 1:
		_, _ = io.CopyN(io.Discard, c, int64(rand.IntN(200_000)))
	case 2:
		_ = c.(*net.TCPConn).SetLinger(0)
	}
}
