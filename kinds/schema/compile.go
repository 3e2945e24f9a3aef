package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/descriptorpb"

	options "github.com/troupe-api/troupe/kinds/api"
)

type compiler struct {
	*Plan
	queue  []*Declaration
	nested []*Message // messages whose nested forms are to be completed
	faults []error
}

const maxInline = 8

func (p *Plan) compile(d *Declaration) error {
	c := &compiler{Plan: p}
	c.enqueue(d)
	for i := 0; i < len(c.queue); i++ {
		c.compileMessage(c.queue[i])
	}
	c.completeNested()
	var messages []*Message
	for _, d := range c.queue {
		if d.message != nil && !d.union {
			messages = append(messages, d.message)
		}
	}
	if len(c.faults) > 0 {
		return errors.Join(c.faults...)
	}
	if p.Complete != nil {
		if err := p.Complete(messages); err != nil {
			return err
		}
	}
	for _, d := range c.queue {
		d.compiled.Store(d.message)
	}
	for _, d := range p.read {
		d.source = nil
	}
	p.read = nil
	return nil
}

// enqueue queues d for compilation unless it is already compiled. It sets d.message or d.scalar.
func (c *compiler) enqueue(d *Declaration) {
	if d.message != nil || d.scalar != 0 {
		return
	}
	o := messageOptions(d.descriptor())
	if t, ok := scalarTypes[o.GetScalar()]; ok {
		d.scalar = t
		return
	}
	d.union = o.GetScalar() == options.Scalar_UNION
	d.message = &Message{Name: d.Name, Doc: d.source.Doc, HasTypeMeta: o.GetTypeMeta() || d.isKind}
	c.queue = append(c.queue, d)
}

func (c *compiler) compileMessage(d *Declaration) {
	m, desc := d.message, d.descriptor()
	m.Fields, m.OneOf = c.fields(d, nil), c.oneOf(desc, 0)
	if o := messageOptions(desc); o != nil {
		rules := func(declared []*Rule) []*Rule {
			c.enqueueUsed(declared)
			return newRules(c.naming, declared)
		}
		m.Rules = &Rules{Validate: rules(o.Rules), Update: rules(o.UpdateRules), Write: rules(o.WriteRules), Status: rules(o.StatusRules),
			Warnings: rules(o.Warnings), StatusWarnings: rules(o.StatusWarnings)}
		for _, id := range o.Config {
			group, kind, _ := strings.Cut(id, ".platform.io")
			m.Config = append(m.Config, c.naming.Group(group)+kind)
		}
	}
	m.Index()
}

func (c *compiler) enqueueUsed(rules []*Rule) {
	for _, r := range rules {
		if d := c.Declarations[r.Use]; d != nil {
			c.enqueue(d)
		}
		c.enqueueUsed(r.Rules)
	}
}

// fields returns the fields of a declaration in declaration order, with inlined messages replaced
// by their fields. wire is the path of field numbers to the declaration.
func (c *compiler) fields(in *Declaration, wire []int32) []*Field {
	desc := in.descriptor()
	list := make([]*Field, 0, len(desc.Field))
	for i, d := range desc.Field {
		path := append(slices.Clip(slices.Clone(wire)), d.GetNumber())
		if fieldOptions(d).GetInline() {
			inlined := c.declaration(d.GetTypeName())
			if inlined == nil || len(path) > maxInline {
				c.fault(in.Name, d.GetName(), "cannot be inlined")
				continue
			}
			within := c.fields(inlined, path)
			c.requireInlined(in, within, fieldOptions(d).GetRequiredFields())
			list = append(list, within...)
			continue
		}
		f := c.field(in, d, path)
		if i < len(in.source.FieldDocs) {
			f.Doc = in.source.FieldDocs[i]
		}
		list = append(list, f)
	}
	return list
}

func (c *compiler) declaration(name string) *Declaration {
	return c.Declarations[strings.TrimPrefix(name, ".")]
}

// requireInlined makes fields of an inlined message required. As in Kubernetes, OpenAPI documents
// still show them as optional.
func (c *compiler) requireInlined(in *Declaration, inlined []*Field, names []string) {
	for _, name := range names {
		i := slices.IndexFunc(inlined, func(f *Field) bool { return f.Name == name })
		if i < 0 {
			c.fault(in.Name, name, "is required but is not a field of the inlined message")
			continue
		}
		inlined[i].Required, inlined[i].Documented = true, PresenceOptional
	}
}

func (c *compiler) oneOf(desc *descriptorpb.DescriptorProto, depth int) []OneOf {
	all := newOneOf(messageOptions(desc))
	for _, d := range desc.Field {
		if inlined := c.declaration(d.GetTypeName()); fieldOptions(d).GetInline() && inlined != nil && depth < maxInline {
			all = append(all, c.oneOf(inlined.descriptor(), depth+1)...)
		}
	}
	return all
}

func (c *compiler) field(in *Declaration, d *descriptorpb.FieldDescriptorProto, wire []int32) *Field {
	f := &Field{Name: c.jsonName(d), Wire: wire, Pointer: d.GetProto3Optional()}
	o := fieldOptions(d)
	f.applyOptions(o, c.naming)
	value := d
	if d.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED {
		f.Shape = List
		if entry := mapEntry(in.descriptor(), d); entry != nil {
			f.Shape, value = Map, entry.Field[1]
		}
	}
	c.setType(in, f, value)
	f.WireEmitEmpty = f.Shape == Single && !f.Pointer && f.Type != TypeBytes
	if text := o.GetDefault(); text != "" {
		v, err := c.defaultValue(f, text)
		if err != nil {
			c.fault(in.Name, f.Name, err.Error())
		}
		f.Default = v
	}
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

func (c *compiler) setType(in *Declaration, f *Field, d *descriptorpb.FieldDescriptorProto) {
	if d.GetTypeName() == "" {
		t, ok := plainTypes[d.GetType()]
		if !ok {
			c.fault(in.Name, f.Name, "has a type that is not supported")
		}
		f.Type = t
		return
	}
	of := c.declaration(d.GetTypeName())
	if of == nil {
		c.fault(in.Name, f.Name, "has a type that is not supported")
		return
	}
	c.enqueue(of)
	switch {
	case of.message == nil:
		f.Type = of.scalar
	case of.union:
		f.Type, f.Message = TypeRaw, of.message
	default:
		f.Type, f.Message = TypeMessage, c.within(of.message)
	}
}

func (c *compiler) fault(message, field, text string) {
	c.faults = append(c.faults, fault(message, field, text))
}

func fault(message, field, text string) error { return fmt.Errorf("%s.%s: %s", message, field, text) }
