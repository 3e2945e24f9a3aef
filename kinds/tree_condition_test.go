package kinds_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

func TestConditions(t *testing.T) {
	ready := tree.Tree{"type": "Ready", "status": "True"}
	status := tree.Tree{"conditions": []any{"no object", ready, tree.Tree{"type": "Failed", "status": "False"}}}
	if found := tree.FindCondition(status, "Ready"); found == nil || !tree.SameRef(found, ready) {
		t.Error("Ready is not found, or copied:", found)
	}
	for kind, want := range map[string]bool{"Ready": true, "Failed": false, "Unheard": false} {
		if is := tree.IsConditionTrue(status, kind); is != want {
			t.Errorf("%s: %v", kind, is)
		}
	}
	for _, none := range []tree.Tree{nil, {}, {"conditions": "text"}} {
		if tree.FindCondition(none, "Ready") != nil || tree.IsConditionTrue(none, "Ready") {
			t.Error("a condition in", none)
		}
	}
	if tree.ConditionIn([]tree.Tree{ready}, "Failed") != nil {
		t.Error("found a condition of another type")
	}
}
