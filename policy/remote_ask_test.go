package policy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/policy/remote"
)

func TestAskIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	var asked, closes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"a":1}` {
			t.Errorf("asked %q, %v", body, err)
		}
		if asked.Add(1) <= closes.Load() {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	for _, c := range []struct {
		closes, asked int64
		fails         bool
	}{{0, 1, false}, {1, 2, false}, {9, 2, true}} {
		asked.Store(0)
		closes.Store(c.closes)
		client := remote.New(remote.Options{URL: server.URL})
		_, err := client.Ask(t.Context(), "", []byte(`{"a":1}`))
		if (err != nil) != c.fails || asked.Load() != c.asked {
			t.Errorf("%d connections closed: asked %d times, %v", c.closes, asked.Load(), err)
		}
		client.Close()
	}
}
