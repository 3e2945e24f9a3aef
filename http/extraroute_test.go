package http_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
)

// TestExtraRoutes tests that extra routes are authorized and can stream, and that an error or
// panic affects only its own response.
func TestExtraRoutes(t *testing.T) {
	large := strings.Repeat("x", 200<<10)
	write := func(fault func() error) func(io.Writer) error {
		return func(w io.Writer) error {
			if _, err := io.WriteString(w, large); err != nil {
				return err
			}
			return fault()
		}
	}
	f := serve(t, func(o *http.Options) {
		o.ExtraRoutes = map[string]http.ExtraRoute{
			"/whole":  {ContentType: "text/x-whole", Write: write(func() error { return nil })},
			"/failed": {Write: write(func() error { return errors.New("broken") })},
			"/panics": {Write: write(func() error { panic("broken") })},
			"/done":   {Do: func(context.Context) ([]byte, error) { return []byte(`{"done":true}`), nil }},
			"/full":   {Do: func(context.Context) ([]byte, error) { return nil, meta.NewInsufficientStorage("no room") }},
		}
	})
	const bytes = "application/octet-stream"
	for path, contentType := range map[string]string{"/whole": "text/x-whole", "/failed": bytes, "/panics": bytes} {
		whole := path == "/whole"
		answer := must.Get(f.client.Get(f.url + path))(t)
		body, err := io.ReadAll(answer.Body)
		if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != contentType {
			t.Errorf("%s: %d %v", path, answer.StatusCode, answer.Header)
		}
		if whole != (err == nil) || whole && string(body) != large {
			t.Errorf("%s: %d bytes, %v", path, len(body), err)
		}
		answer.Body.Close()
	}
	if answer, _ := f.do("GET", "/whole", "", "Authorization", "Bearer jane"); answer.StatusCode != 403 {
		t.Errorf("without the right: %d", answer.StatusCode)
	}
	if answer, _ := f.do("POST", "/whole", ""); answer.StatusCode != 405 {
		t.Errorf("POST: %d", answer.StatusCode)
	}
	if answer, body := f.do("POST", "/done", ""); answer.StatusCode != 200 || !strings.Contains(string(body), `"done":true`) {
		t.Errorf("what is done: %d %s", answer.StatusCode, body)
	}
	for _, wrong := range []struct {
		method, path, token string
		code                int
	}{{"POST", "/full", "", 507}, {"GET", "/done", "", 405}, {"POST", "/done", "Bearer jane", 403}} {
		var headers []string
		if wrong.token != "" {
			headers = []string{"Authorization", wrong.token}
		}
		if answer, _ := f.do(wrong.method, wrong.path, "", headers...); answer.StatusCode != wrong.code {
			t.Errorf("%+v: %d", wrong, answer.StatusCode)
		}
	}
}
