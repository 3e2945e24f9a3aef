package http_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http"
)

func TestInFlight(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.Limits.MaxRequestsInFlight = 1 })
	entered, leave := make(chan struct{}), make(chan struct{})
	f.store.beforeGet = func() { entered <- struct{}{}; <-leave }
	answered := make(chan int)
	go func() {
		resp, err := f.client.Get(f.url + configMapsPath + "/a")
		if err != nil {
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	<-entered
	resp, body := f.do("GET", configMapsPath+"/a", "")
	if s := f.parseStatus(body); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" || s.Reason != "TooManyRequests" {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, _ := f.do("GET", "/livez", ""); resp.StatusCode != 200 {
		t.Errorf("livez under overload: %d", resp.StatusCode)
	}
	if resp, _ := f.do("POST", configMapsPath, configMap("z")); resp.StatusCode != 201 {
		t.Errorf("writes have their own limit: %d", resp.StatusCode)
	}
	close(leave)
	if code := <-answered; code != 404 {
		t.Errorf("the first one: %d", code)
	}
}

func TestLargeListIsCompressed(t *testing.T) {
	f := serve(t, nil)
	big := strings.Repeat("x", 10000)
	for i := range 20 {
		f.do("POST", configMapsPath, fmt.Sprintf(`{"metadata":{"name":"a%d"},"data":{"k":%q}}`, i, big))
	}
	resp, plain := f.do("GET", configMapsPath, "")
	if resp.ContentLength != int64(len(plain)) || !json.Valid([]byte(plain)) {
		t.Errorf("plain: %d of %d", resp.ContentLength, len(plain))
	}
	resp, packed := f.do("GET", configMapsPath, "", "Accept-Encoding", "gzip")
	if resp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal("not compressed")
	}
	if got := gunzip(t, []byte(packed)); !bytes.Equal(got, []byte(plain)) {
		t.Errorf("compressed list differs: %d and %d bytes", len(got), len(plain))
	}
}
