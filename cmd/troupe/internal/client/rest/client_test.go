package rest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// TestEndlessAnswer: an answer that does not end takes no more memory than one may have.
func TestEndlessAnswer(t *testing.T) {
	const most = 1 << 20
	for _, length := range []int{most, most + 1, 1 << 40} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			piece := strings.Repeat(" ", 1<<16)
			for left := length; left > 0; {
				n, err := w.Write([]byte(piece[:min(left, len(piece))]))
				if err != nil {
					return
				}
				left -= n
			}
		}))
		server, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		c := rest.New(&kubeconfig.Config{Server: server}, rest.Options{MaxAnswer: most})
		answer, err := c.Do(t.Context(), rest.Request{Method: http.MethodGet, Path: "/"})
		if length <= most && (err != nil || len(answer.Body) != length) {
			t.Errorf("%d bytes: %d, %v", length, len(answer.Body), err)
		}
		if length > most && (err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes")) {
			t.Errorf("%d bytes: %d, %v", length, len(answer.Body), err)
		}
		s.CloseClientConnections()
		s.Close()
	}
}
