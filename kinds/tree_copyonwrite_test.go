package kinds_test

import (
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

func TestCopyOnWrite(t *testing.T) {
	from := tree.Tree{"a": "1", "b": "2"}
	edit := tree.CopyOnWrite{From: from}
	if edit.Copy() != nil || !tree.SameRef(edit.Result(), from) {
		t.Error("an object that nothing has changed is not the one it began with")
	}
	edit.Drop("a")
	edit.Set("b", "3")
	if want := (tree.Tree{"b": "3"}); !reflect.DeepEqual(edit.Result(), want) || !tree.SameRef(edit.Copy(), edit.Result()) {
		t.Errorf("got %v, want %v", edit.Result(), want)
	}
	if want := (tree.Tree{"a": "1", "b": "2"}); !reflect.DeepEqual(from, want) {
		t.Errorf("the object it began with was changed: %v", from)
	}
}
