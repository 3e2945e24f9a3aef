package schema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	options "github.com/troupe-api/troupe/kinds/api"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A Plan holds the compiled form of all declarations.
type Plan struct {
	Kinds    []*Kind             // in order of declaration
	Messages map[string]*Message // by full name, as in "core.v1.PodSpec"; without scalars
}

// Compile compiles a serialized FileDescriptorSet, with the names of naming profile n. It joins all
// declaration errors, each with its message and field.
func Compile(descriptors []byte, n *meta.Naming) (*Plan, error) {
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(descriptors, set); err != nil {
		return nil, fmt.Errorf("descriptor set: %w", err)
	}
	c := &compiler{
		naming:      n,
		sources:     map[string]*source{},
		stored:      map[*Kind]bool{},
		nestedForms: map[*Message]*Message{},
		plan:        &Plan{Messages: map[string]*Message{}},
	}
	for _, file := range set.File {
		c.collect(file)
	}
	for _, s := range c.order {
		c.inherit(s)
	}
	for _, s := range c.order {
		c.compile(s)
	}
	c.fillNested()
	c.resolveReferences()
	for _, k := range c.plan.Kinds {
		c.checkKind(k)
	}
	if len(c.faults) > 0 {
		return nil, errors.Join(c.faults...)
	}
	return c.plan, nil
}

type compiler struct {
	naming      *meta.Naming
	sources     map[string]*source // by the name in descriptors, as in ".core.v1.Pod"
	order       []*source
	stored      map[*Kind]bool        // kinds marked as storage versions
	nestedForms map[*Message]*Message // the form of typed messages within others
	plan        *Plan
	faults      []error
}

type source struct {
	desc    *descriptorpb.DescriptorProto
	message *Message // nil for scalars
	scalar  Type
	union   bool
	docs    []string // of the fields, by index; nil if there are none

	inherited bool
}

const maxInline = 8

// collect registers the messages of a file before any of them is compiled, because they can refer
// to each other.
func (c *compiler) collect(file *descriptorpb.FileDescriptorProto) {
	all := make([]*source, len(file.MessageType))
	for i, desc := range file.MessageType {
		all[i] = c.declare(file.GetPackage()+"."+desc.GetName(), desc)
	}
	for _, location := range file.GetSourceCodeInfo().GetLocation() {
		attachDocs(all, location.GetLeadingComments())
	}
}

func (c *compiler) declare(name string, desc *descriptorpb.DescriptorProto) *source {
	s := &source{desc: desc}
	o := messageOptions(desc)
	if t, ok := scalarTypes[o.GetScalar()]; ok {
		s.scalar = t
	} else if o.GetScalar() == options.Scalar_UNION {
		s.message, s.union = &Message{Name: name}, true
	} else {
		s.message = &Message{Name: name, HasTypeMeta: o.GetTypeMeta() || kindOptions(desc) != nil}
		c.plan.Messages[name] = s.message
	}
	c.sources["."+name] = s
	c.order = append(c.order, s)
	return s
}

// attachDocs parses the documentation that kinds/internal/gen has written. Each line has the index
// of a message, or "message.field" indexes, followed by a space and the text.
func attachDocs(all []*source, lines string) {
	for line := range strings.Lines(lines) {
		indexes, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		message, field, ofField := strings.Cut(indexes, ".")
		i, err := strconv.Atoi(message)
		if err != nil || i >= len(all) || all[i].message == nil {
			continue
		}
		s := all[i]
		if !ofField {
			s.message.Doc = text
			continue
		}
		if s.docs == nil {
			s.docs = make([]string, len(s.desc.Field))
		}
		if at, err := strconv.Atoi(field); err == nil && at < len(s.docs) {
			s.docs[at] = text
		}
	}
}

func (s *source) doc(i int) string {
	if s.docs == nil {
		return ""
	}
	return s.docs[i]
}

func (c *compiler) compile(s *source) {
	if s.message == nil {
		return
	}
	m := s.message
	m.Fields, m.OneOf = c.fields(s, nil), c.oneOf(s, 0)
	if o := messageOptions(s.desc); o != nil {
		rules := func(declared []*Rule) []*Rule { return newRules(c.naming, declared) }
		m.Rules = &Rules{Validate: rules(o.Rules), Update: rules(o.UpdateRules), Write: rules(o.WriteRules), Status: rules(o.StatusRules),
			Warnings: rules(o.Warnings), StatusWarnings: rules(o.StatusWarnings)}
	}
	m.Index()
	c.checkFieldNames(m)
	if len(m.byName) < len(m.Fields) {
		for i, f := range m.Fields {
			if slices.ContainsFunc(m.Fields[:i], func(o *Field) bool { return o.Name == f.Name }) {
				c.fault(m.Name, f.Name, "is declared twice")
			}
		}
	}
	o := kindOptions(s.desc)
	if o == nil {
		return
	}
	k, err := newKind(s.desc, o, c.naming)
	if err != nil {
		c.faults = append(c.faults, err)
		return
	}
	k.Declared, k.SameAs = m, s.inherited
	c.stored[k] = o.StorageVersion
	c.plan.Kinds = append(c.plan.Kinds, k)
}

// fields returns the fields of s in declaration order. An inlined message is replaced with its
// fields. wire holds the field numbers on the path to s.
func (c *compiler) fields(s *source, wire []int32) []*Field {
	list := make([]*Field, 0, len(s.desc.Field))
	for i, d := range s.desc.Field {
		path := append(slices.Clip(slices.Clone(wire)), d.GetNumber())
		if fieldOptions(d).GetInline() {
			inlined := c.sources[d.GetTypeName()]
			if inlined == nil || inlined.message == nil || len(path) > maxInline {
				c.fault(s.message.Name, d.GetName(), "cannot be inlined")
				continue
			}
			within := c.fields(inlined, path)
			c.requireInlined(s, within, fieldOptions(d).GetRequiredFields())
			list = append(list, within...)
			continue
		}
		list = append(list, c.field(s, d, path, s.doc(i)))
	}
	return list
}

// requireInlined makes fields of an inlined message required in s. As in Kubernetes, the published
// OpenAPI documents still show these fields as optional.
func (c *compiler) requireInlined(s *source, inlined []*Field, names []string) {
	for _, name := range names {
		i := slices.IndexFunc(inlined, func(f *Field) bool { return f.Name == name })
		if i < 0 {
			c.fault(s.message.Name, name, "is required but is not a field of the inlined message")
			continue
		}
		inlined[i].Required, inlined[i].Documented = true, PresenceOptional
	}
}

func (c *compiler) oneOf(s *source, depth int) []OneOf {
	all := newOneOf(messageOptions(s.desc))
	for _, d := range s.desc.Field {
		if inlined := c.sources[d.GetTypeName()]; fieldOptions(d).GetInline() && inlined != nil && depth < maxInline {
			all = append(all, c.oneOf(inlined, depth+1)...)
		}
	}
	return all
}

func (c *compiler) field(s *source, d *descriptorpb.FieldDescriptorProto, wire []int32, doc string) *Field {
	f := &Field{Name: c.jsonName(d), Doc: doc, Wire: wire, Pointer: d.GetProto3Optional()}
	o := fieldOptions(d)
	f.applyOptions(o, c.naming)
	value := d
	if d.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED {
		f.Shape = List
		if entry := mapEntry(s.desc, d); entry != nil {
			f.Shape, value = Map, entry.Field[1]
		}
	}
	c.setType(s, f, value)
	f.WireEmitEmpty = f.Shape == Single && !f.Pointer && f.Type != TypeBytes
	if text := o.GetDefault(); text != "" {
		v, err := c.defaultValue(f, text)
		if err != nil {
			c.fault(s.message.Name, f.Name, err.Error())
		}
		f.Default = v
	}
	c.checkField(s, f)
	return f
}

func (c *compiler) jsonName(d *descriptorpb.FieldDescriptorProto) string {
	if name := d.GetJsonName(); name != "" {
		return c.naming.Translate(name)
	}
	return d.GetName()
}

func mapEntry(in *descriptorpb.DescriptorProto, d *descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
	name := d.GetTypeName()
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, nested := range in.NestedType {
		if nested.GetName() == name && nested.GetOptions().GetMapEntry() {
			return nested
		}
	}
	return nil
}

var plainTypes = map[descriptorpb.FieldDescriptorProto_Type]Type{
	descriptorpb.FieldDescriptorProto_TYPE_STRING: TypeString,
	descriptorpb.FieldDescriptorProto_TYPE_BOOL:   TypeBool,
	descriptorpb.FieldDescriptorProto_TYPE_INT32:  TypeInt32,
	descriptorpb.FieldDescriptorProto_TYPE_INT64:  TypeInt64,
	descriptorpb.FieldDescriptorProto_TYPE_DOUBLE: TypeDouble,
	descriptorpb.FieldDescriptorProto_TYPE_BYTES:  TypeBytes,
}

func (c *compiler) setType(s *source, f *Field, d *descriptorpb.FieldDescriptorProto) {
	if d.GetTypeName() == "" {
		t, ok := plainTypes[d.GetType()]
		if !ok {
			c.fault(s.message.Name, f.Name, "has a type that is not supported")
		}
		f.Type = t
		return
	}
	of := c.sources[d.GetTypeName()]
	switch {
	case of == nil:
		c.fault(s.message.Name, f.Name, "has a type that is not supported")
	case of.message == nil:
		f.Type = of.scalar
	case of.union:
		f.Type, f.Message = TypeRaw, of.message
	default:
		f.Type, f.Message = TypeMessage, c.nested(of.message)
	}
}

func (c *compiler) fault(message, field, text string) {
	c.faults = append(c.faults, fmt.Errorf("%s.%s: %s", message, field, text))
}
