package api

import (
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"sigs.k8s.io/yaml"
)

// TestProtobuf checks that each Protobuf document equals the JSON document converted by the gnostic
// models.
func TestProtobuf(t *testing.T) {
	t.Parallel()
	for _, profile := range profiles {
		t.Run(profile, func(t *testing.T) {
			s := serveOpenAPI(t, profile)
			from2, err := openapi_v2.ParseDocument(document(t, s, "/openapi/v2", "application/json"))
			if err != nil {
				t.Fatal(err)
			}
			sameOpenAPI(t, "v2", document(t, s, "/openapi/v2", protobuf2), from2, &openapi_v2.Document{})
			for path, url := range index(t, s) {
				from3, err := openapi_v3.ParseDocument(document(t, s, url, "application/json"))
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				sameOpenAPI(t, path, document(t, s, url, protobuf3), from3, &openapi_v3.Document{})
			}
		})
	}
}

func sameOpenAPI(t *testing.T, name string, wire []byte, want, got proto.Message) {
	t.Helper()
	if err := (proto.UnmarshalOptions{DiscardUnknown: false}).Unmarshal(wire, got); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	unify(t, want.ProtoReflect())
	unify(t, got.ProtoReflect())
	if !proto.Equal(want, got) {
		t.Errorf("%s differs:\n%s", name, differenceOpenAPI(prototext.Format(got), prototext.Format(want)))
	}
}

// unify converts the YAML strings in a document to JSON, so that documents can be compared. It
// also reports unknown fields.
func unify(t *testing.T, m protoreflect.Message) {
	t.Helper()
	if len(m.GetUnknown()) > 0 {
		t.Errorf("%s has unknown fields", m.Descriptor().FullName())
	}
	if m.Descriptor().Name() == "Any" {
		field := m.Descriptor().Fields().ByName("yaml")
		text, err := yaml.YAMLToJSON([]byte(m.Get(field).String()))
		if err != nil {
			t.Fatal(err)
		}
		m.Set(field, protoreflect.ValueOfString(string(text)))
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				unify(t, v.List().Get(i).Message())
			}
		default:
			unify(t, v.Message())
		}
		return true
	})
}

// differenceOpenAPI returns excerpts of both texts around their first difference.
func differenceOpenAPI(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	from := max(0, i-300)
	return "got  …" + got[from:min(len(got), i+200)] + "\nwant …" + want[from:min(len(want), i+200)]
}
