package extension

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

func respondRaw(text string) func(question, http.ResponseWriter, *http.Request) {
	return func(_ question, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// TestBounds checks that webhook responses are limited in size and time, and that a request fails
// immediately on an invalid response.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	h := startWebhooks(t, allow)
	var strays int
	stray := startWebhooks(t, func(question, http.ResponseWriter, *http.Request) { strays++ })
	for _, c := range []struct {
		name   string
		answer func(question, http.ResponseWriter, *http.Request)
		text   string
	}{
		{"100 MB", func(q question, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"x":"`)
			for range 100 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, "exceeds"},
		{"a long uid", respondRaw(`{"apiVersion":"admission.platform.io/v1","kind":"AdmissionReview","response":{"uid":"` + strings.Repeat("x", 1<<20) + `","allowed":true}}`), "expected response.uid="},
		{"slow", func(q question, w http.ResponseWriter, r *http.Request) {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}, "context deadline exceeded"},
		{"hanging after the headers", func(q question, w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			_, _ = io.WriteString(w, `{"apiVersion":`)
			w.(http.Flusher).Flush()
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}, "context deadline exceeded"},
		{"redirecting", func(q question, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, stray.URL, http.StatusTemporaryRedirect)
		}, "the server responded with the status code 307"},
		{"cutting off", func(q question, w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, "failed to call webhook"},
	} {
		seconds := 30 // the maximum, because the machine may be busy
		if c.text == "context deadline exceeded" {
			seconds = 1
		}
		s.register(validating, "v", webhookHook{rules: onlyConfigMaps, more: fmt.Sprintf(`"timeoutSeconds":%d`, seconds)}.text(h))
		h.set(c.answer)
		quick := client.Quick(t, 20*time.Second, c.name)
		a := s.create(500, "x", "")
		if s.wantMessage(a, c.text); len(a.Body) > 8<<10 {
			t.Errorf("%s: an answer of %d bytes", c.name, len(a.Body))
		}
		quick()
		s.unregister(validating, "v")
	}
	if strays > 0 {
		t.Error("a redirect was followed")
	}
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps}.text(h))
	h.set(allow)
	s.create(201, "x", "")
}
