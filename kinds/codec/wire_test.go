package codec

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/schema"
)

const fullJSON = `{"metadata":{"name":"n","labels":{"b":"2","a":"1"},"creationTimestamp":"2024-01-01T00:00:00Z","generation":7,"finalizers":["x","y"],
	"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"u","controller":false}]},
	"data":{"k":"v","e":""},"binaryData":{"b":"AAEC"},"immutable":false,
	"spec":{"replicas":0,"count":-5,"big":-9007199254740993,"ratio":0.25,"args":["","a"],"ports":[0,-1,300],"target":"http","size":"1500m",
		"at":"2024-01-01T00:00:00.000001Z","wait":"1m30s","extra":{"a":[1,null,"x"]},"nodeName":"node","hostNetwork":true,
		"parts":[{"name":"p","hostPath":"/h","optional":false,"limits":{"cpu":"1","memory":"1Gi"}},{"name":"q"}]}}`

func inProtobuf(tb testing.TB, m *schema.Message, json string) []byte {
	tb.Helper()
	b, err := AppendProtobuf(nil, m, []byte(json))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestProtobufRoundTrip(t *testing.T) {
	tree, _, err := DecodeJSON(thingPlan, []byte(fullJSON))
	if err != nil {
		t.Fatal(err)
	}
	b := inProtobuf(t, thingPlan, fullJSON)
	again, faults, err := DecodeProtobuf(thingPlan, b)
	if err != nil || faults != nil {
		t.Fatal(err, faults)
	}
	if !reflect.DeepEqual(again, tree) {
		t.Errorf("got  %s\nwant %s", AppendAny(nil, again), AppendAny(nil, tree))
	}
	for i := range b {
		_, _, _ = DecodeProtobuf(thingPlan, b[:i]) // must not panic
	}
}

func TestProtobufBytes(t *testing.T) {
	plan := schema.NewMessage("x.v1.M",
		of(field("part", 0, 3), partPlan),
		field("n", schema.TypeInt32, 1),
		pointer(field("target", schema.TypeIntOrString, 2)),
		mapOf("m", schema.TypeString, 4),
		field("at", schema.TypeTime, 5),
		field("json", schema.TypeString),
	)
	for _, c := range []struct{ name, in, want string }{
		{"zero", `{}`, "0800" + "1a04" + "0a00" + "1200" + "2a00"},
		{"values", `{"n":-1,"target":80,"m":{"b":"","a":"x"},"at":"1970-01-01T00:00:00Z","part":{"hostPath":"/"},"json":"only"}`,
			"08ffffffffffffffffff01" + "1206080010501a00" + "1a07" + "0a00" + "12030a012f" +
				"2206" + "0a0161120178" + "2205" + "0a01621200" + "2a0408001000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// hostPath and optional belong to the inlined message number 2. hostPath is always
			// written.
			want := strings.Replace(c.want, "1a040a001200", "1a060a0012020a00", 1)
			if got := hex.EncodeToString(inProtobuf(t, plan, c.in)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestDecodeProtobufForms(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", `{}`},
		{"unknown fields", "f80601" + "fa0601aa", `{}`},
		{"packed and plain", "2a09" + "3a0301ac02" + "3801" + "3802", `{"spec":{"ports":[1,300,1,2]}}`},
		{"merged message", "2a03520161" + "2a021005", `{"spec":{"count":5,"nodeName":"a"}}`},
		{"scattered list", "2a0a" + "320161" + "1001" + "320162" + "1002", `{"spec":{"args":["a","b"],"count":2}}`},
		{"entry without value", "1203" + "0a0161", `{"data":{"a":""}}`},
		{"bad UTF-8", "1206" + "0a01ff1201fe", `{"data":{"�":"�"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := hex.DecodeString(c.in)
			if err != nil {
				t.Fatal(err)
			}
			tree, _, err := DecodeProtobuf(thingPlan, in)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(AppendAny(nil, tree)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDecodeProtobufErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"cut", "0a05", "proto: malformed message"},
		{"tag zero", "00", "proto: malformed message"},
		{"wire type", "0801", "proto: wrong wireType = 0 for field metadata"},
		{"end of group", "0c", "proto: wrong wireType = 4 for field metadata"},
		{"quantity", "2a05" + "4a030a0178", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		{"raw", "2a05" + "72030a017b", "unexpected end of JSON input"},
		{"year", "0a0a" + "42080880808080808040", "creationTimestamp: year outside of range [0,9999]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := hex.DecodeString(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if tree, _, err := DecodeProtobuf(thingPlan, in); err == nil || err.Error() != c.want {
				t.Errorf("got %v %v, want %s", tree, err, c.want)
			}
		})
	}
}

func TestEnvelope(t *testing.T) {
	b := WrapEnvelope([]byte("x"), "v1", "Thing", []byte{1, 2})
	if got, want := hex.EncodeToString(b), "78"+"6b387300"+"0a0b"+"0a027631"+"12055468696e67"+"12020102"+"1a00"+"2200"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e, err := UnwrapEnvelope(b[1:])
	if want := (Envelope{APIVersion: "v1", Kind: "Thing", Raw: []byte{1, 2}}); err != nil || !reflect.DeepEqual(e, want) {
		t.Errorf("%+v %v", e, err)
	}
	for i := 1; i < len(b); i++ {
		_, _ = UnwrapEnvelope(b[1:i]) // must not panic
	}
	if _, err := UnwrapEnvelope([]byte("{}")); err == nil {
		t.Error("JSON was taken")
	}
}

func FuzzDecodeProtobuf(f *testing.F) {
	f.Add(inProtobuf(f, thingPlan, fullJSON))
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, in []byte) {
		_, _ = UnwrapEnvelope(in)
		object, _, err := DecodeProtobuf(thingPlan, in)
		if err != nil {
			return
		}
		text := AppendValue(nil, thingPlan, object)
		again, _, err := DecodeProtobuf(thingPlan, inProtobuf(t, thingPlan, string(text)))
		if err != nil || string(AppendValue(nil, thingPlan, again)) != string(text) {
			t.Fatalf("not stable: %v\n%s\n%s", err, text, AppendValue(nil, thingPlan, again))
		}
	})
}

// TestProtobufOrder checks that the bytes do not depend on the order of fields and keys in the
// JSON.
func TestProtobufOrder(t *testing.T) {
	for _, c := range []struct{ name, in, same string }{
		{"fields", `{"data":{"k":"v"},"metadata":{"uid":"u","name":"n"}}`, `{"metadata":{"name":"n","uid":"u"},"data":{"k":"v"}}`},
		{"inlined", `{"spec":{"parts":[{"limits":{"cpu":"1"},"optional":true,"hostPath":"/h","name":"p"}]}}`,
			`{"spec":{"parts":[{"name":"p","hostPath":"/h","optional":true,"limits":{"cpu":"1"}}]}}`},
		{"keys", `{"data":{"b":"2","a":"1","c":"3"}}`, `{"data":{"a":"1","b":"2","c":"3"}}`},
		{"null", `{"metadata":{"name":null,"labels":null},"data":null}`, `{"metadata":{}}`},
		{"null in a list", `{"spec":{"args":[null]}}`, `{"spec":{"args":[""]}}`},
		{"unknown", `{"kind":"Thing","apiVersion":"v1","nope":{"a":[1]},"data":{"k":"v"}}`, `{"data":{"k":"v"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := inProtobuf(t, thingPlan, c.in), inProtobuf(t, thingPlan, c.same); !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
		})
	}
}

func TestAppendProtobufErrors(t *testing.T) {
	for _, in := range []string{
		``, `[]`, `{`, `{}x`, `{"metadata":1}`, `{"data":[]}`, `{"data":{"k":1}}`, `{"spec":{"replicas":"1"}}`, `{"spec":{"replicas":1.5}}`,
		`{"spec":{"args":{}}}`, `{"spec":{"hostNetwork":"true"}}`, `{"spec":{"at":"now"}}`, `{"spec":{"wait":"long"}}`, `{"binaryData":{"b":"?"}}`,
		`{"spec":{"target":true}}`, `{"spec":{"ratio":"1"}}`, `{"spec":{"extra":{"a":}}}`,
	} {
		if b, err := AppendProtobuf(nil, thingPlan, []byte(in)); err == nil {
			t.Errorf("%s: got %x", in, b)
		}
	}
}

func TestEnvelopedObject(t *testing.T) {
	empty := len(WrapEnvelope(nil, "apps/v1", "Deployment", nil))
	for size := range 130 {
		for _, size := range []int{size, size << 7, size << 10} {
			envelope := WrapEnvelope(nil, "apps/v1", "Deployment", bytes.Repeat([]byte{byte(size)}, size))
			whole, err := UnwrapEnvelope(envelope)
			if got := EnvelopedObject(envelope, empty); err != nil || len(got) != size || !bytes.Equal(got, whole.Raw) {
				t.Fatalf("%d bytes: %d, %v", size, len(got), err)
			}
		}
	}
}
