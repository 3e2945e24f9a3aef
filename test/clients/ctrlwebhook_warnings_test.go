package clients

import (
	"context"
	"slices"
	"sync"
	"testing"
)

type warnings struct {
	mu   sync.Mutex
	said []string
}

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

// expect checks the warnings received since the previous call.
func (w *warnings) expect(t *testing.T, want ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.said, want) {
		t.Errorf("warnings: %q, want %q", w.said, want)
	}
	w.said = nil
}
