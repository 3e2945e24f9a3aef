package codec

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestConform(t *testing.T) {
	in := tree.Tree{
		"kind": "Thing", "bogus": 1,
		"data": tree.Tree{"a": "b", "n": nil},
		"spec": tree.Tree{
			"count": 3.0, "big": json.Number("9007199254740993"), "replicas": int64(2), "ratio": int64(1),
			"ports": []any{1.0, int64(2)}, "nodeName": nil,
			"size":  1.5,
			"parts": []any{tree.Tree{"name": "x", "y": 1, "x": 2}},
			"extra": tree.Tree{"a": []any{json.Number("1"), json.Number("1.5"), nil}},
		},
	}
	before := string(AppendAny(nil, in))
	out, faults, err := Conform(thingPlan, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := tree.Tree{
		"kind": "Thing",
		"data": tree.Tree{"a": "b", "n": ""},
		"spec": tree.Tree{
			"count": int64(3), "big": int64(9007199254740993), "replicas": int64(2), "ratio": 1.0,
			"ports": []any{int64(1), int64(2)},
			"size":  "1500m",
			"parts": []any{tree.Tree{"name": "x"}},
			"extra": tree.Tree{"a": []any{int64(1), 1.5, nil}},
		},
	}
	if !reflect.DeepEqual(out, want) {
		t.Errorf("got  %s\nwant %s", AppendAny(nil, out), AppendAny(nil, want))
	}
	wantFaults := []string{`unknown field "bogus"`, `unknown field "spec.parts[0].x"`, `unknown field "spec.parts[0].y"`}
	if got := texts(faults); !reflect.DeepEqual(got, wantFaults) {
		t.Error(got)
	}
	if after := string(AppendAny(nil, in)); after != before {
		t.Errorf("the tree passed in became %s", after)
	}
}

func TestConformErrors(t *testing.T) {
	deep := any("x")
	for range jsontext.MaxDepth + 1 {
		deep = []any{deep}
	}
	for _, c := range []struct {
		name string
		in   tree.Tree
		want string
	}{
		{"fraction", tree.Tree{"spec": tree.Tree{"count": 1.5}}, "json: cannot unmarshal number 1.5 into Go struct field ThingSpec.spec.count of type int32"},
		{"overflow", tree.Tree{"spec": tree.Tree{"count": int64(1 << 31)}}, "json: cannot unmarshal number 2147483648 into Go struct field ThingSpec.spec.count of type int32"},
		{"number as text", tree.Tree{"data": tree.Tree{"b": true, "a": int64(1), "c": true}}, "json: cannot unmarshal number into Go struct field Thing.data of type string"},
		{"text as object", tree.Tree{"spec": "x"}, "json: cannot unmarshal string into Go struct field Thing.spec of type v1.ThingSpec"},
		{"map as list", tree.Tree{"spec": tree.Tree{"args": tree.Tree{}}}, "json: cannot unmarshal object into Go struct field ThingSpec.spec.args of type []string"},
		{"null list", tree.Tree{"data": []any{}}, "json: cannot unmarshal array into Go struct field Thing.data of type map[string]string"},
		{"foreign type", tree.Tree{"spec": tree.Tree{"extra": map[string]string{"a": "b"}}}, "json: cannot unmarshal number into Go struct field ThingSpec.spec.extra of type interface {}"},
		{"too deep", tree.Tree{"spec": tree.Tree{"extra": deep}}, "exceeded max depth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := Conform(thingPlan, c.in, nil); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestConformSharesUnchangedValues(t *testing.T) {
	in, _, err := DecodeJSON(thingPlan, []byte(metaJSON))
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := Conform(thingPlan, in, nil)
	if err != nil || reflect.ValueOf(in).Pointer() != reflect.ValueOf(out).Pointer() {
		t.Error("copied without need", err)
	}
}
