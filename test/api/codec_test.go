package api

import (
	"bytes"
	"math/rand"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/public"
)

type codecObject interface {
	metav1.Object
	Marshal() ([]byte, error)
}

func randomObject(seed int64, k *schema.Kind, o codecObject) codecObject {
	f := filler{Rand: rand.New(rand.NewSource(seed)), sparse: 2 + int(seed%4)}
	v := reflect.ValueOf(o).Elem()
	f.fill(v, 0)
	v.FieldByName("TypeMeta").Set(reflect.ValueOf(metav1.TypeMeta{Kind: k.Kind, APIVersion: k.APIVersion()}))
	o.SetResourceVersion("")
	return o
}

func TestAgainstPublicTypes(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, meta.Kubernetes)
	for gvk, value := range public.Kinds {
		k := c.ByGVK(gvk)
		if k.Message().Field("metadata") == nil {
			continue // options of a connection, which are query parameters
		}
		t.Run(gvk.APIVersion()+" "+gvk.Kind, func(t *testing.T) {
			for seed := range int64(25) {
				compareCodec(t, k, randomObject(seed, k, reflect.New(reflect.TypeOf(value)).Interface().(codecObject)))
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func compareCodec(t *testing.T, k *schema.Kind, o codecObject) {
	t.Helper()
	wantJSON := client.Encode(t, o)
	wantWire, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	fromJSON, faults, err := codec.DecodeJSON(k.Message(), wantJSON)
	if err != nil || faults != nil {
		t.Fatal(err, faults)
	}
	fromWire, _, err := codec.DecodeProtobuf(k.Message(), wantWire)
	if err != nil {
		t.Fatal(err)
	}
	sameCodec(t, "JSON to JSON", withoutVersion(codec.EncodeJSON(k, fromJSON)), wantJSON)
	sameCodec(t, "Protobuf to JSON", withoutVersion(codec.EncodeJSON(k, fromWire)), wantJSON)
	gotWire, err := codec.AppendProtobuf(nil, k.Message(), wantJSON)
	if err != nil {
		t.Fatal(err)
	}
	sameCodec(t, "JSON to Protobuf", gotWire, wantWire)
	if gotWire, err = codec.AppendProtobuf(nil, k.Message(), codec.EncodeJSON(k, fromWire).JSON); err != nil {
		t.Fatal(err)
	}
	sameCodec(t, "Protobuf to Protobuf", gotWire, wantWire)
	compareCBOR(t, k, o, fromJSON, wantJSON)
}

// compareCBOR compares CBOR encoding and decoding with the Kubernetes serializer, byte for byte.
func compareCBOR(t *testing.T, k *schema.Kind, o codecObject, fromJSON tree.Tree, wantJSON []byte) {
	t.Helper()
	want, err := direct.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := codec.AppendCBOR(nil, k.Message(), wantJSON)
	if err != nil {
		t.Fatal(err)
	}
	sameCodec(t, "JSON to CBOR", bytes.TrimPrefix(got, []byte("\xd9\xd9\xf7")), want)
	fromCBOR, faults, err := codec.DecodeCBOR(k.Message(), want, 4*len(wantJSON))
	if err != nil || faults != nil {
		t.Fatal(err, faults)
	}
	if !tree.StrictEqual(fromCBOR, fromJSON) {
		t.Errorf("CBOR is read as %v, JSON as %v", fromCBOR, fromJSON)
	}
	back := reflect.New(reflect.TypeOf(o).Elem()).Interface()
	if err := direct.Unmarshal(got, back); err != nil {
		t.Errorf("the public serializer: %v", err)
	}
}

// withoutVersion removes the empty resourceVersion from the JSON, because Go's encoder omits it.
func withoutVersion(e codec.Encoded) []byte {
	const name = `"resourceVersion":"`
	start, end := e.VersionOffset-len(name), e.VersionOffset+1
	if e.JSON[start-1] == ',' {
		start--
	} else if e.JSON[end] == ',' {
		end++
	}
	return slices.Delete(slices.Clone(e.JSON), start, end)
}

func sameCodec(t *testing.T, label string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-80)
	t.Errorf("%s differs at %d\ngot  …%q\nwant …%q", label, i, got[from:min(len(got), i+60)], want[from:min(len(want), i+60)])
}
