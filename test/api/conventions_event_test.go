package api

import (
	"encoding/json"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func parseEvent(t testing.TB, text string) (e client.Event) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return e
}
