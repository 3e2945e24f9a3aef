package codec_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestEqualIgnoringManagedFields(t *testing.T) {
	k := kindNamed(t, "ConfigMap")
	encoded := func(manager, label, value string) codec.Encoded {
		return codec.EncodeJSON(k, tree.Tree{
			"metadata": tree.Tree{"name": "a", "labels": tree.Tree{"l": label, "managedFields": `"managedFields":[`},
				"managedFields": []any{tree.Tree{"manager": manager, "operation": "Update", "fieldsV1": `{"f:data":{"f:]":{}}}`}}},
			"data": tree.Tree{"managedFields": value},
		})
	}
	stored := encoded("one", "a", "x").WithVersion(12345)
	for name, c := range map[string]struct {
		encoded codec.Encoded
		want    bool
	}{
		"the same":       {encoded("one", "a", "x"), true},
		"other managers": {encoded("another", "a", "x"), true},
		"another label":  {encoded("one", "b", "x"), false},
		"other data":     {encoded("one", "a", "y"), false},
		"longer data":    {encoded("one", "a", "xy"), false},
		"no managers":    {codec.EncodeJSON(k, tree.Tree{"metadata": tree.Tree{"name": "a"}}), false},
	} {
		if got := codec.EqualIgnoringManagedFields(stored, c.encoded); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for i := range stored {
		if codec.EqualIgnoringManagedFields(stored[:i], encoded("one", "a", "x")) {
			t.Errorf("the first %d bytes are the whole object", i)
		}
	}
}
