package extension

import (
	"encoding/json"
	"strings"
	"testing"
)

// only returns the client review since the last call. It fails the test unless there was exactly
// one.
func only(t *testing.T, h *hookServer) question {
	t.Helper()
	asked := h.questions()
	if len(asked) != 1 {
		t.Fatalf("%d questions", len(asked))
	}
	return asked[0]
}

func asJSON(v any) string { b, _ := json.Marshal(v); return string(b) }

// want checks fields of a request as JSON. The keys of members are field paths. An empty value
// means that the field must be absent.
func (q question) want(t *testing.T, name string, members map[string]string) {
	t.Helper()
	for path, want := range members {
		got := asJSON(at(q.request(), strings.Split(path, ".")...))
		if want == "" {
			want = "null"
		}
		if got != want {
			t.Errorf("%s: %s is %s, want %s", name, path, got, want)
		}
	}
}
