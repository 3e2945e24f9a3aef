package schema

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	options "github.com/troupe-api/troupe/kinds/api"
	"github.com/troupe-api/troupe/kinds/internal/declarations"
	"github.com/troupe-api/troupe/kinds/meta"
)

func field(name string, o *options.Field) *descriptorpb.FieldDescriptorProto {
	f := &descriptorpb.FieldDescriptorProto{
		Name: &name, Number: proto.Int32(1),
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		Type:  descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
	}
	if o != nil {
		f.Options = &descriptorpb.FieldOptions{}
		proto.SetExtension(f.Options, options.E_Field, o)
	}
	return f
}

func of(message string, f *descriptorpb.FieldDescriptorProto) *descriptorpb.FieldDescriptorProto {
	f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), &message
	return f
}

func repeated(f *descriptorpb.FieldDescriptorProto) *descriptorpb.FieldDescriptorProto {
	f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	return f
}

func message(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
	for i, f := range fields {
		f.Number = proto.Int32(int32(i + 1))
	}
	return &descriptorpb.DescriptorProto{Name: &name, Field: fields}
}

func kind(o *options.Kind, m *descriptorpb.DescriptorProto) *descriptorpb.DescriptorProto {
	m.Options = &descriptorpb.MessageOptions{}
	proto.SetExtension(m.Options, options.E_Kind, o)
	return m
}

func compile(t *testing.T, messages ...*descriptorpb.DescriptorProto) (*Plan, error) {
	t.Helper()
	location := func(doc string, path ...int32) *descriptorpb.SourceCodeInfo_Location {
		return &descriptorpb.SourceCodeInfo_Location{Path: path, LeadingComments: &doc}
	}
	info := &descriptorpb.SourceCodeInfo{Location: []*descriptorpb.SourceCodeInfo_Location{location(" A Thing\n is it.\n", 4, 0)}}
	if len(messages[0].Field) > 1 {
		info.Location = append(info.Location, location(" The second.\n", 4, 0, 2, 1))
	}
	encoded, err := declarations.Encode([]*descriptorpb.FileDescriptorProto{{Package: proto.String("p"), MessageType: messages, SourceCodeInfo: info}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Load(encoded, meta.Kubernetes)
	if err == nil {
		_, err = plan.Messages()
	}
	return plan, err
}

func TestCompileFaults(t *testing.T) {
	tests := map[string]*descriptorpb.DescriptorProto{
		`p.M.f: default 1 does not fit the type`:                  message("M", field("f", &options.Field{Default: "1"})),
		`p.M.f: default {: unexpected EOF`:                        message("M", field("f", &options.Field{Default: "{"})),
		`p.M.f: has a list type but is not a list`:                message("M", field("f", &options.Field{ListType: options.ListType_SET})),
		`p.M.f: list_map_keys require list_type MAP`:              message("M", repeated(field("f", &options.Field{ListType: options.ListType_MAP}))),
		`p.M.f: merge key "x" is not a field of its items`:        message("M", repeated(of(".p.M", field("f", &options.Field{MergeKey: "x"})))),
		`p.M.f: has an enum but is not a string`:                  message("M", of(".p.M", field("f", &options.Field{Enum: []string{"a"}}))),
		`p.M.f: has a minimum or maximum but is not a number`:     message("M", field("f", &options.Field{Min: proto.Int64(1)})),
		`p.M.f: is required because of "x", which is not a field`: message("M", field("f", &options.Field{RequiredWhen: &options.RequiredWhen{Field: "x"}})),
		`p.M.f: has a key format but is not a map`:                message("M", field("f", &options.Field{KeyFormat: "ip"})),
		`p.M.f: may repeat items`:                                 message("M", field("f", &options.Field{MayRepeat: true})),
		`p.M.f: has a type that is not supported`:                 message("M", of(".p.N", field("f", nil))),
		`p.M.f: cannot be inlined`:                                message("M", field("f", &options.Field{Inline: true})),
		`p.M.f: is declared twice`:                                message("M", field("f", nil), field("f", nil)),
		`M: a kind needs a version`:                               kind(&options.Kind{Resource: "ms"}, message("M")),
		`p.M.s: has a body of a kind that is not declared`: kind(&options.Kind{Version: "v1", Resource: "ms",
			Subresources: []*options.Subresource{{Name: "s", Version: "v1", Kind: "S"}}}, message("M")),
		`p.M.x: is a path of a scale but does not exist`: kind(&options.Kind{Version: "v1", Resource: "ms",
			Subresources: []*options.Subresource{{Name: "s", Scale: &options.Scale{Selector: "x"}}}}, message("M")),
		`p.M.metadata: is missing`:                          kind(&options.Kind{Version: "v1", Resource: "ms"}, message("M")),
		`p.M.x: is a selectable field but does not exist`:   kind(&options.Kind{Version: "v1", Resource: "ms", SelectFields: []string{"x"}}, message("M")),
		`p.M.x: is the path of a column but does not exist`: kind(&options.Kind{Version: "v1", Resource: "ms", Columns: []*options.Column{{Path: "x|0"}}}, message("M")),
		`M: sub-resource "s" is declared twice`: kind(&options.Kind{Version: "v1", Resource: "ms",
			Subresources: []*options.Subresource{{Name: "s"}, {Name: "s"}}}, message("M")),
	}
	for want, m := range tests {
		_, err := compile(t, m)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := Load([]byte{0xff}, meta.Platform); err == nil {
		t.Error("garbage compiles")
	}
}

func TestCompileKind(t *testing.T) {
	o := &options.Kind{
		Group: "storage.platform.io", Version: "v1", Resource: "things", SelectFields: []string{"type"},
		Subresources: []*options.Subresource{{Name: "scale", Group: "autoscaling", Version: "v1", Kind: "Scale"}},
	}
	inline := of(".p.Inner", field("inner", &options.Field{Inline: true}))
	inner := message("Inner", field("deep", nil))
	inner.Options = &descriptorpb.MessageOptions{}
	proto.SetExtension(inner.Options, options.E_Message, &options.Message{OneOf: []*options.OneOf{{Fields: []string{"deep"}, None: "no depth"}}})
	plan, err := compile(t,
		kind(o, message("Thing", of(".p.Meta", field("metadata", nil)), field("type", &options.Field{
			Default: `"platform.io/x"`, Enum: []string{"platform.io/x", "y"},
		}), inline)),
		inner,
		message("Meta"),
		kind(&options.Kind{Group: "autoscaling", Version: "v1"}, message("Scale", of(".p.Meta", field("metadata", nil)))),
	)
	if err != nil {
		t.Fatal(err)
	}
	k := plan.Kinds[0]
	if k.Group != "storage.k8s.io" || k.Names.Singular != "thing" || len(k.Verbs) != 8 || k.Storage.String() != "things.storage.k8s.io" {
		t.Errorf("got %+v", k)
	}
	if k.ItemOffset() != len(`{"kind":"Thing","apiVersion":"storage.k8s.io/v1",`) {
		t.Errorf("Item = %d", k.ItemOffset())
	}
	if k.Subresources[0].BodyKind == nil || k.Subresources[0].BodyKind.APIVersion() != "autoscaling/v1" || k.Subresource("scale") == nil || k.Subresource("status") != nil {
		t.Errorf("sub-resources %+v", k.Subresources)
	}
	f := k.Message().Field("type")
	if f.Default != "kubernetes.io/x" || f.Enum[0] != "kubernetes.io/x" || f.Doc != "The second." || k.Message().Doc != "A Thing is it." {
		t.Errorf("got %+v of %q", f, k.Message().Doc)
	}
	if deep := k.Message().Field("deep"); deep == nil || !slices.Equal(deep.Wire, []int32{3, 1}) || k.Message().Field("inner") != nil {
		t.Errorf("the inlined field is %+v", deep)
	}
	if all := k.Message().OneOf; len(all) != 1 || all[0].None != "no depth" {
		t.Errorf("one_of of the inlined message: %+v", all)
	}
	if !k.Message().HasTypeMeta || plan.Declarations["p.Meta"].Message().HasTypeMeta {
		t.Error("kinds are typed, their parts are not")
	}
}

func TestStorageVersion(t *testing.T) {
	version := func(v string, stored bool) *descriptorpb.DescriptorProto {
		return kind(&options.Kind{Group: "g", Version: v, Resource: "ms", StorageVersion: stored}, message("M"+v, of(".p.Meta", field("metadata", nil))))
	}
	plan, err := compile(t, version("v1", false), version("v2", true), message("Meta"))
	if err != nil {
		t.Fatal(err)
	}
	if v1, v2 := plan.Kinds[0], plan.Kinds[1]; v1.Stored != v2 || v2.Stored != v2 {
		t.Errorf("v1 is stored as %v, v2 as %v", v1.Stored, v2.Stored)
	}
	for want, both := range map[string][2]bool{"no kind there is marked as the storage version": {}, "more than one storage version": {true, true}} {
		_, err := compile(t, version("v1", both[0]), version("v2", both[1]), message("Meta"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestFirstUse checks that a message is compiled exactly once, on first use, together with only the
// messages that it refers to.
func TestFirstUse(t *testing.T) {
	shared := func() *descriptorpb.FieldDescriptorProto { return of(".p.Meta", field("metadata", nil)) }
	kindOf := func(name string) *descriptorpb.DescriptorProto {
		return kind(&options.Kind{Version: "v1", Resource: strings.ToLower(name)}, message(name, shared()))
	}
	encoded, err := declarations.Encode([]*descriptorpb.FileDescriptorProto{{
		Package: proto.String("p"), MessageType: []*descriptorpb.DescriptorProto{kindOf("A"), kindOf("B"), message("Meta", field("name", nil))},
	}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Load(encoded, meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	var completed []string
	plan.Complete = func(messages []*Message) error {
		for _, m := range messages {
			completed = append(completed, m.Name)
		}
		return nil
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { plan.Kinds[0].Message() })
	}
	wait.Wait()
	if want := []string{"p.A", "p.Meta"}; !slices.Equal(completed, want) {
		t.Errorf("compiled %v, want %v", completed, want)
	}
	a, b := plan.Kinds[0].Message(), plan.Kinds[1].Message()
	if want := []string{"p.A", "p.Meta", "p.B"}; !slices.Equal(completed, want) {
		t.Errorf("compiled %v, want %v", completed, want)
	}
	if a.Field("metadata").Message != b.Field("metadata").Message {
		t.Error("a shared message was compiled twice")
	}
}
