package requestinfo

import (
	"testing"

	"github.com/google/uuid"
)

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		parsed, err := uuid.Parse(id)
		if err != nil || parsed.String() != id || parsed.Version() != 4 || parsed.Variant() != uuid.RFC4122 {
			t.Fatalf("%q: %v", id, err)
		}
		if seen[id] {
			t.Fatalf("%q comes twice", id)
		}
		seen[id] = true
	}
}
