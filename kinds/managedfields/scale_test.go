package managedfields

import (
	"errors"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func scaler(manager string) Writer {
	w := writerOf(manager)
	w.Subresource, w.Scale = "scale", &Scale{Replicas: []string{"inner", "b"}, APIVersion: "scales/v1"}
	return w
}

func TestScaleUpdate(t *testing.T) {
	before, after := parseTree(t, `{"text":"a","inner":{"b":1}}`), parseTree(t, `{"text":"a","inner":{"b":2}}`)
	for name, c := range map[string]struct{ fields, want string }{
		"of owned replicas":    {`{"f:inner":{"f:b":{}},"f:text":{}}`, `m Update {"f:text":{}}; w Update {"f:inner":{"f:b":{}}}`},
		"of replicas of none":  {`{"f:text":{}}`, `m Update {"f:text":{}}`},
		"of the message alone": {`{"f:inner":{}}`, `m Update {"f:inner":{}}`},
	} {
		managed := []any{tree.Tree{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": c.fields}}
		if got := formatManagers(Update(scaler("w"), onlyV1, before, after, managed, false)); got != c.want {
			t.Errorf("%s: the owners are %s, want %s", name, got, c.want)
		}
	}
}

// TestScaleApply checks that unowned replicas are assigned to before-first-apply in the Scale's
// version.
func TestScaleApply(t *testing.T) {
	managed := []any{tree.Tree{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": `{"f:text":{}}`}}
	live := parseTree(t, `{"text":"a","inner":{"b":1}}`)
	_, _, err := Apply(scaler("w"), onlyV1, live, parseTree(t, `{"inner":{"b":2}}`), managed, false)
	const want = `Apply failed with 1 conflict: conflict with "before-first-apply" with subresource "scale" using scales/v1: .spec.replicas`
	var status *meta.Status
	if !errors.As(err, &status) || status.Message != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, owners, err := Apply(scaler("w"), onlyV1, live, parseTree(t, `{"inner":{"b":1}}`), managed, false)
	if got := formatManagers(owners); err != nil || got != `before-first-apply Update {"f:inner":{"f:b":{}}}; m Update {"f:text":{}}; w Apply {"f:inner":{"f:b":{}}}` {
		t.Errorf("the owners are %s, %v", got, err)
	}
	none := parseTree(t, `{"text":"a","inner":{"b":0}}`)
	_, owners, err = Apply(scaler("w"), onlyV1, none, parseTree(t, `{"inner":{"b":2}}`), managed, false)
	if got := formatManagers(owners); err != nil || got != `m Update {"f:text":{}}; w Apply {"f:inner":{"f:b":{}}}` {
		t.Errorf("of no replicas, the owners are %s, %v", got, err)
	}
}
