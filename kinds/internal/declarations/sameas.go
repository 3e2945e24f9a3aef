package declarations

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	options "github.com/troupe-api/troupe/kinds/api"
)

func messageOptions(desc *descriptorpb.DescriptorProto) *options.Message {
	if desc.Options == nil {
		return nil
	}
	return proto.GetExtension(desc.Options, options.E_Message).(*options.Message)
}

func (e *encoder) inherit(m *message) {
	own := m.source
	name := messageOptions(own.Message).GetSameAs()
	if name == "" || m.inherited {
		return
	}
	m.inherited = true
	other := e.byName["."+name]
	if other == nil {
		e.faults = append(e.faults, fmt.Errorf("%s.same_as: no message is named %s", m.name, name))
		return
	}
	e.inherit(other)
	from := other.source
	v := version{encoder: e, from: packageOf(other), to: packageOf(m)}
	desc := &descriptorpb.DescriptorProto{
		Name: own.Message.Name, Options: inheritOptions(from.Message.Options, own.Message.Options),
		NestedType: append(slices.Clip(own.Message.NestedType), v.mapEntries(from.Message.NestedType)...),
	}
	m.source = &options.Source{Message: desc, Doc: cmp.Or(own.Doc, from.Doc)}
	add := func(f *descriptorpb.FieldDescriptorProto, doc string) {
		desc.Field, m.source.FieldDocs = append(desc.Field, f), append(m.source.FieldDocs, doc)
	}
	for i, f := range from.Message.Field {
		at := slices.IndexFunc(own.Message.Field, func(o *descriptorpb.FieldDescriptorProto) bool { return o.GetName() == f.GetName() })
		switch {
		case at >= 0:
			add(own.Message.Field[at], cmp.Or(own.FieldDocs[at], from.FieldDocs[i]))
		case !slices.Contains(own.Message.ReservedName, f.GetName()):
			add(v.field(f), from.FieldDocs[i])
		}
	}
	for i, f := range own.Message.Field {
		if !slices.Contains(desc.Field, f) {
			add(f, own.FieldDocs[i])
		}
	}
}

// inheritOptions returns the inherited options (from), overridden by a message's own.
// storage_version, off_by_default and deprecation are not inherited.
func inheritOptions(from, own *descriptorpb.MessageOptions) *descriptorpb.MessageOptions {
	merged := &descriptorpb.MessageOptions{}
	proto.Merge(merged, from)
	for _, extension := range []protoreflect.ExtensionType{options.E_Kind, options.E_Message} {
		if !proto.HasExtension(own, extension) {
			continue
		}
		inherited := proto.GetExtension(merged, extension).(proto.Message).ProtoReflect()
		if !inherited.IsValid() {
			inherited = extension.New().Message()
		}
		if k, ok := inherited.Interface().(*options.Kind); ok {
			k.StorageVersion, k.OffByDefault, k.Deprecation = false, false, nil
		}
		proto.GetExtension(own, extension).(proto.Message).ProtoReflect().Range(func(option protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			inherited.Set(option, value)
			return true
		})
		proto.SetExtension(merged, extension, inherited.Interface())
	}
	return merged
}

// A version rewrites the types of fields that a package inherits from another. Packages have the
// form ".autoscaling.v2.".
type version struct {
	*encoder
	from, to string
}

func packageOf(m *message) string { return "." + m.name[:strings.LastIndexByte(m.name, '.')+1] }

// field returns f with its type in the inheriting package. If that package does not declare the
// type, field inherits the type too.
func (v version) field(f *descriptorpb.FieldDescriptorProto) *descriptorpb.FieldDescriptorProto {
	name, ok := strings.CutPrefix(f.GetTypeName(), v.from)
	if !ok {
		return f
	}
	f = proto.CloneOf(f)
	f.TypeName = proto.String(v.to + name)
	if from := v.byName[v.from+name]; from != nil && v.byName[v.to+name] == nil {
		desc := &descriptorpb.DescriptorProto{Name: &name, Options: &descriptorpb.MessageOptions{}}
		proto.SetExtension(desc.Options, options.E_Message, &options.Message{SameAs: from.name})
		v.inherit(v.declare(strings.TrimPrefix(v.to, ".")+name, &options.Source{Message: desc}))
	}
	return f
}

func (v version) mapEntries(entries []*descriptorpb.DescriptorProto) []*descriptorpb.DescriptorProto {
	all := make([]*descriptorpb.DescriptorProto, len(entries))
	for i, e := range entries {
		all[i] = &descriptorpb.DescriptorProto{Name: e.Name, Options: e.Options}
		for _, f := range e.Field {
			all[i].Field = append(all[i].Field, v.field(f))
		}
	}
	return all
}
