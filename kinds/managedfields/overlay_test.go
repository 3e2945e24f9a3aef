package managedfields

import (
	"encoding/json"
	"testing"
)

func TestOverlay(t *testing.T) {
	const live = `{"text":"a","map":{"x":"1"},"set":["a","b"],"items":[{"name":"a","value":"1"}],"inner":{"a":"1"}}`
	for config, want := range map[string]string{
		`{"map":{"y":"2"}}`:                                    `{"text":"a","map":{"x":"1","y":"2"},"set":["a","b"],"items":[{"name":"a","value":"1"}],"inner":{"a":"1"}}`,
		`{"set":["c","a"]}`:                                    `{"text":"a","map":{"x":"1"},"set":["c","a","b"],"items":[{"name":"a","value":"1"}],"inner":{"a":"1"}}`,
		`{"items":[{"name":"b","value":"2"}]}`:                 `{"text":"a","map":{"x":"1"},"set":["a","b"],"items":[{"name":"a","value":"1"},{"name":"b","value":"2"}],"inner":{"a":"1"}}`,
		`{"items":[{"name":"a","value":"3"}],"inner":{"b":7}}`: `{"text":"a","map":{"x":"1"},"set":["a","b"],"items":[{"name":"a","value":"3"}],"inner":{"a":"1","b":7}}`,
		`{"text":null}`:                                        `{"map":{"x":"1"},"set":["a","b"],"items":[{"name":"a","value":"1"}],"inner":{"a":"1"}}`,
		`{"list":["x"],"unit":{"a":"b"}}`:                      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .list, .unit`,
		`{"block":{"a":"1"}}`:                                  `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .block`,
		`{"items":[{"name":"a"},{"name":"a"}]}`:                `failed to convert patch object to typed object: .items: duplicate entries for key [kind="K",name="a"]`,
		`{"items":[null]}`:                                     `failed to convert patch object to typed object: .items: element 0: associative list with keys may not have a null element`,
		`{"set":["c",null]}`:                                   `failed to convert patch object to typed object: .set: element 1: associative list without keys has an element that's an explicit null`,
	} {
		before := parseTree(t, live)
		merged, err := Overlay(plan(), before, parseTree(t, config), nil)
		got, _ := json.Marshal(merged)
		wanted := []byte(want)
		if err != nil {
			got = []byte(err.Error())
		} else {
			wanted, _ = json.Marshal(parseTree(t, want))
		}
		if string(got) != string(wanted) {
			t.Errorf("%s: got %s\nwant %s", config, got, wanted)
		}
		if left, _ := json.Marshal(before); string(left) != string(mustJSON(t, live)) {
			t.Errorf("%s has changed the object: %s", config, left)
		}
	}
}

func mustJSON(t *testing.T, text string) []byte {
	t.Helper()
	b, err := json.Marshal(parseTree(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
