package meta

import (
	"testing"
	"unsafe"
)

func TestTextOwnsItsBytes(t *testing.T) {
	json := `{"metadata":{"name":"a"}}`
	part := json[2:10]
	if text := NewText(part); text.String() != "metadata" || unsafe.StringData(text.String()) == unsafe.StringData(part) || text != NewText("metadata") || (Text{}).String() != "" {
		t.Errorf("%q shares its bytes", text)
	}
}
