package declarations

import (
	"errors"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	options "github.com/troupe-api/troupe/kinds/api"
)

// Encode returns the messages of files in the format of declarations.binpb. The result is
// deterministic.
func Encode(files []*descriptorpb.FileDescriptorProto) ([]byte, error) {
	e := &encoder{byName: map[string]*message{}}
	for _, file := range files {
		if err := e.collect(file); err != nil {
			return nil, err
		}
	}
	for _, m := range e.order {
		e.inherit(m)
	}
	if len(e.faults) > 0 {
		return nil, errors.Join(e.faults...)
	}
	return e.encode()
}

type encoder struct {
	byName map[string]*message // as in ".core.v1.Pod"
	order  []*message
	faults []error
}

type message struct {
	name      string // as in "core.v1.Pod"
	source    *options.Source
	inherited bool
}

func (e *encoder) collect(file *descriptorpb.FileDescriptorProto) error {
	file = proto.CloneOf(file)
	for _, desc := range file.MessageType {
		strip(desc)
		// Decode the options again, because a compiled file does not use the generated option
		// types.
		b, err := proto.Marshal(desc)
		if err != nil {
			return err
		}
		if err := proto.Unmarshal(b, desc); err != nil {
			return err
		}
		e.declare(file.GetPackage()+"."+desc.GetName(), &options.Source{Message: desc, FieldDocs: make([]string, len(desc.Field))})
	}
	e.addDocs(file.GetSourceCodeInfo(), e.order[len(e.order)-len(file.MessageType):])
	return nil
}

func (e *encoder) declare(name string, source *options.Source) *message {
	m := &message{name: name, source: source}
	e.byName["."+name] = m
	e.order = append(e.order, m)
	return m
}

// strip drops redundant parts of a message: JSON names that equal the field name, synthetic oneofs,
// the type number of a field with a type name, and the label optional.
func strip(desc *descriptorpb.DescriptorProto) {
	desc.OneofDecl = nil
	for _, field := range desc.Field {
		field.OneofIndex = nil
		if field.GetJsonName() == field.GetName() {
			field.JsonName = nil
		}
		if field.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL {
			field.Label = nil
		}
		if field.TypeName != nil {
			field.Type = nil
		}
	}
	for _, nested := range desc.NestedType {
		strip(nested)
	}
}

// Descriptor field numbers in the paths of source locations.
const (
	pathMessage = 4 // FileDescriptorProto.message_type
	pathField   = 2 // DescriptorProto.field
)

// addDocs sets the docs of a file's messages and fields to their leading comments.
func (e *encoder) addDocs(info *descriptorpb.SourceCodeInfo, messages []*message) {
	for _, l := range info.GetLocation() {
		text, p := strings.Join(strings.Fields(l.GetLeadingComments()), " "), l.Path
		switch {
		case text == "" || len(p) < 2 || p[0] != pathMessage:
		case len(p) == 2:
			messages[p[1]].source.Doc = text
		case len(p) == 4 && p[2] == pathField:
			messages[p[1]].source.FieldDocs[p[3]] = text
		}
	}
}

func (e *encoder) encode() ([]byte, error) {
	marshal := proto.MarshalOptions{Deterministic: true}
	all, sources := &options.Declarations{}, []byte(nil)
	for _, m := range e.order {
		d := &options.Declaration{Name: m.name, SameAs: m.inherited}
		if o := m.source.Message.Options; o != nil && proto.HasExtension(o, options.E_Kind) {
			d.Kind = proto.GetExtension(o, options.E_Kind).(*options.Kind)
			proto.ClearExtension(o, options.E_Kind)
		}
		if !slices.ContainsFunc(m.source.FieldDocs, func(doc string) bool { return doc != "" }) {
			m.source.FieldDocs = nil
		}
		source, err := marshal.Marshal(m.source)
		if err != nil {
			return nil, err
		}
		d.SourceSize = int64(len(source))
		o := messageOptions(m.source.Message)
		for _, rules := range [][]*options.Rule{o.GetRules(), o.GetUpdateRules(), o.GetWriteRules(), o.GetStatusRules(), o.GetWarnings(), o.GetStatusWarnings()} {
			all.Variables = append(all.Variables, variables(rules)...)
		}
		all.Messages, sources = append(all.Messages, d), append(sources, source...)
	}
	slices.Sort(all.Variables)
	all.Variables = slices.Compact(all.Variables)
	index, err := marshal.Marshal(all)
	return slices.Concat(protowire.AppendBytes(nil, index), sources), err
}

func variables(rules []*options.Rule) (all []string) {
	for _, r := range rules {
		for _, name := range []string{r.As, r.Let} {
			if name != "" {
				all = append(all, name)
			}
		}
		all = append(all, variables(r.Rules)...)
	}
	return all
}
