package schema

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	options "github.com/troupe-api/troupe/kinds/api"
)

// inherit completes a message with the option same_as.
func (c *compiler) inherit(s *source) {
	own := *s
	name := messageOptions(own.desc).GetSameAs()
	if name == "" || s.inherited {
		return
	}
	s.inherited = true
	from := c.sources["."+name]
	if from == nil || from.message == nil {
		c.fault(s.message.Name, "same_as", "no message is named "+name)
		return
	}
	c.inherit(from)
	v := version{compiler: c, from: packageOf(from), to: packageOf(s)}
	s.desc = &descriptorpb.DescriptorProto{
		Name: own.desc.Name, Options: inheritOptions(from.desc.Options, own.desc.Options),
		NestedType: append(slices.Clip(own.desc.NestedType), v.mapEntries(from.desc.NestedType)...),
	}
	s.docs = nil
	s.message.HasTypeMeta = from.message.HasTypeMeta
	s.message.Doc = orDefault(s.message.Doc, from.message.Doc)
	add := func(f *descriptorpb.FieldDescriptorProto, doc string) {
		s.desc.Field, s.docs = append(s.desc.Field, f), append(s.docs, doc)
	}
	for i, f := range from.desc.Field {
		at := slices.IndexFunc(own.desc.Field, func(o *descriptorpb.FieldDescriptorProto) bool { return o.GetName() == f.GetName() })
		switch {
		case at >= 0:
			add(own.desc.Field[at], orDefault(own.doc(at), from.doc(i)))
		case !slices.Contains(own.desc.ReservedName, f.GetName()):
			add(v.field(f), from.doc(i))
		}
	}
	for i, f := range own.desc.Field {
		if !slices.Contains(s.desc.Field, f) {
			add(f, own.doc(i))
		}
	}
}

// inheritOptions returns the options from with those in own replaced. What a version declares about
// itself is not inherited.
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
	*compiler
	from, to string
}

func packageOf(s *source) string {
	return "." + s.message.Name[:strings.LastIndexByte(s.message.Name, '.')+1]
}

// field returns f with the message of the inheriting package, which inherits the message unless it
// declares it.
func (v version) field(f *descriptorpb.FieldDescriptorProto) *descriptorpb.FieldDescriptorProto {
	name, ok := strings.CutPrefix(f.GetTypeName(), v.from)
	if !ok {
		return f
	}
	f = proto.CloneOf(f)
	f.TypeName = proto.String(v.to + name)
	if from := v.sources[v.from+name]; from != nil && v.sources[v.to+name] == nil {
		desc := &descriptorpb.DescriptorProto{Name: &name, Options: &descriptorpb.MessageOptions{}}
		proto.SetExtension(desc.Options, options.E_Message, &options.Message{SameAs: from.message.Name})
		v.inherit(v.declare(strings.TrimPrefix(v.to, ".")+name, desc))
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
