package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Compile makes the value plans of declared messages, and of those within them, from the options of their fields. It
// reports every format that it does not know, and every pattern that is none. isOn tells whether a feature is on that
// fields belong to; nil: none is.
//
// Messages are sorted by name first, so that the faults of a wrong declaration come in the same order each
// time. What is compiled here is walked for every write, so whatever can be decided about a field is
// decided now.
func Compile(isOn func(feature string) bool, messages ...*schema.Message) error {
	c := &compiler{isOn: isOn, parts: map[*schema.Message]*schema.Parts{}}
	messages = slices.SortedFunc(slices.Values(messages), func(a, b *schema.Message) int { return strings.Compare(a.Name, b.Name) })
	for _, m := range messages {
		c.collect(m)
	}
	c.mark()
	for _, m := range c.order {
		c.fill(m)
	}
	return errors.Join(c.faults...)
}

// A compiler holds the state of one Compile.
//
// It works in three passes over all messages, because a message may contain itself: register them, find
// those that have anything to do, and only then make the plans, which refer to each other.
type compiler struct {
	isOn   func(feature string) bool
	order  []*schema.Message
	parts  map[*schema.Message]*schema.Parts
	fields map[*schema.Field]*evaluators // of those fields that have any
	// Messages in which, or below which, there is something to check, to default, or to keep. Others are not walked.
	checked, defaulted, immutable, featured map[*schema.Message]bool
	// Messages of which an empty object has a fault, since a field is missing.
	demanding map[*schema.Message]bool
	faults    []error
}

// collect registers a message and those within it. A message may contain itself.
func (c *compiler) collect(m *schema.Message) {
	if c.parts[m] != nil {
		return
	}
	c.parts[m] = &schema.Parts{}
	c.order = append(c.order, m)
	for _, f := range m.Fields {
		if f.Type == schema.TypeMessage {
			c.collect(f.Message)
		}
	}
}

// mark compiles the options of each field, and finds the messages in which there is something to do.
func (c *compiler) mark() {
	c.fields = map[*schema.Field]*evaluators{}
	for _, m := range c.order {
		for _, f := range m.Fields {
			made, err := newEvaluators(f)
			if err != nil {
				c.faults = append(c.faults, fmt.Errorf("%s.%s: %w", m.Name, f.Name, err))
			}
			if !made.empty() {
				c.fields[f] = &made
			}
		}
	}
	c.checked = c.closure(func(m *schema.Message, f *schema.Field) bool {
		return f.Required || f.RequiredWhen != nil || c.fields[f] != nil || len(m.OneOf) > 0
	}, anywhere)
	c.defaulted = c.closure(func(_ *schema.Message, f *schema.Field) bool { return changesWhenDefaulted(f) }, anywhere)
	c.immutable = c.closure(func(_ *schema.Message, f *schema.Field) bool { return f.Immutable }, isSingle)
	c.featured = c.closure(func(_ *schema.Message, f *schema.Field) bool { return c.isOff(f) }, anywhere)
	c.demanding = c.closure(func(_ *schema.Message, f *schema.Field) bool { return f.Required }, isAlwaysThere)
}

// isOff tells whether a field belongs to a feature that is off.
func (c *compiler) isOff(f *schema.Field) bool {
	return f.Feature != "" && (c.isOn == nil || !c.isOn(f.Feature))
}

// Which fields closure looks into.
func anywhere(*schema.Field) bool        { return true }
func isSingle(f *schema.Field) bool      { return f.Shape == schema.Single }
func isAlwaysThere(f *schema.Field) bool { return isSingle(f) && f.EmitEmpty && !f.Pointer }

// closure finds the messages that have a field with a property, or that contain such a message in one of the fields
// that it looks into.
//
// It repeats until nothing new is found, which for a chain of n messages may take n rounds; it runs once,
// at the start.
func (c *compiler) closure(has func(*schema.Message, *schema.Field) bool, into func(*schema.Field) bool) map[*schema.Message]bool {
	found := map[*schema.Message]bool{}
	for more := true; more; {
		more = false
		for _, m := range c.order {
			if found[m] {
				continue
			}
			found[m] = slices.ContainsFunc(m.Fields, func(f *schema.Field) bool {
				return has(m, f) || f.Type == schema.TypeMessage && found[f.Message] && into(f)
			})
			more = more || found[m]
		}
	}
	return found
}

// fill makes the plan of a message.
//
// A field that needs neither check nor default is not in the plan at all: the walk over an object costs
// what is declared about it, not how many fields it has.
func (c *compiler) fill(m *schema.Message) {
	p := c.parts[m]
	p.Ordered = true
	for _, f := range m.Fields {
		switch {
		case f.Immutable:
			p.Immutable = append(p.Immutable, schema.ImmutablePart{Field: f})
		case f.Type == schema.TypeMessage && f.Shape == schema.Single && c.immutable[f.Message]:
			p.Immutable = append(p.Immutable, schema.ImmutablePart{Field: f, Parts: c.parts[f.Message]})
		}
		switch {
		case c.isOff(f):
			p.Featured = append(p.Featured, schema.FeaturedPart{Name: f.Name, Feature: f.Feature})
		case f.Type == schema.TypeMessage && c.featured[f.Message]:
			p.Featured = append(p.Featured, schema.FeaturedPart{Name: f.Name, Parts: c.parts[f.Message], Shape: f.Shape})
		}
		checked, defaulted := c.isChecked(f), c.isDefaulted(f)
		if !checked && !defaulted {
			continue
		}
		part := schema.Part{Name: f.Name, ValuePlan: c.field(f), Required: f.Required, RequiredDetail: f.RequiredDetail, RequiredWhen: f.RequiredWhen,
			CheckAbsent: f.Type == schema.TypeMessage && isAlwaysThere(f) && c.demanding[f.Message]}
		if checked {
			p.Checked = append(p.Checked, part)
		}
		if defaulted {
			p.Defaulted = append(p.Defaulted, part)
		}
	}
	m.Values = &schema.ValuePlan{Parts: p, Evaluators: c.inside(m)}
}

// isChecked tells whether anything is asked of a field, or of what is in it.
func (c *compiler) isChecked(f *schema.Field) bool {
	return f.Required || f.RequiredWhen != nil || c.fields[f] != nil || f.Type == schema.TypeMessage && c.checked[f.Message]
}

// isDefaulted tells whether a field, or what is in it, has a default.
func (c *compiler) isDefaulted(f *schema.Field) bool {
	return changesWhenDefaulted(f) || f.Type == schema.TypeMessage && c.defaulted[f.Message]
}

// changesWhenDefaulted tells whether defaulting changes the value of the field itself.
func changesWhenDefaulted(f *schema.Field) bool {
	return filledDefault(f) != nil || nullDefault(f) != nil || f.WholeThousandths
}

// inside are the evaluators of what is in the objects of a message.
//
// The fields come before the rules that are about several of them.
func (c *compiler) inside(m *schema.Message) []schema.Evaluator {
	if !c.checked[m] {
		return nil
	}
	all := []schema.Evaluator{Fields{c.parts[m]}}
	for _, o := range m.OneOf {
		all = append(all, oneOf(o))
	}
	return all
}

// field makes the plan of the value of a field.
//
// What a list is asked for comes before its items where it spares them, as the bound of their number, and
// after them otherwise, as that they are unique: so faults come in the order that clients know.
func (c *compiler) field(f *schema.Field) *schema.ValuePlan {
	made := c.fields[f]
	if made == nil {
		made = &evaluators{}
	}
	value := &schema.ValuePlan{Evaluators: made.value, Absence: schema.AbsentIfNull, WholeThousandths: f.WholeThousandths}
	if f.Type == schema.TypeMessage {
		value.Evaluators = slices.Concat(value.Evaluators, c.inside(f.Message))
		value.Parts = c.parts[f.Message]
	}
	plan := value
	switch f.Shape {
	case schema.List:
		plan = &schema.ValuePlan{Absence: schema.AbsentIfNull, Items: value, Evaluators: made.before}
		if len(value.Evaluators) > 0 {
			plan.Evaluators = append(plan.Evaluators, Items{Plan: value})
		}
		plan.Evaluators = append(plan.Evaluators, made.after...)
	case schema.Map:
		plan = &schema.ValuePlan{Absence: schema.AbsentIfNull, Evaluators: made.before,
			Parts: &schema.Parts{IsMap: true, Additional: value, Keys: made.keys}}
		if len(value.Evaluators) > 0 || len(made.keys) > 0 {
			plan.Evaluators = append(plan.Evaluators, Fields{plan.Parts})
		}
	default:
		if !f.Pointer && f.Type != schema.TypeMessage {
			plan.Absence = schema.AbsentIfZero
		}
		plan.FillAbsent = f.Type == schema.TypeMessage && isAlwaysThere(f)
	}
	switch f.Empty {
	case schema.EmptyAllowed:
		plan.Absence = schema.AbsentIfZero
	case schema.EmptyChecked:
		plan.Zero = zeroOf(f)
	}
	plan.Default, plan.NullDefault = filledDefault(f), nullDefault(f)
	return plan
}

// filledDefault is the default that is filled in. An empty text that is not written need not be: it only says what the field is where it
// is a key.
func filledDefault(f *schema.Field) any {
	if f.Default == "" && !f.EmitEmpty && !f.Pointer {
		return nil
	}
	return f.Default
}

// zeroOf is the value of a text or a number that is left out.
func zeroOf(f *schema.Field) any {
	if f.Type == schema.TypeString {
		return ""
	}
	return int64(0)
}

// nullDefault is the value that readers get for an absent field which is always written; nil: none in particular.
func nullDefault(f *schema.Field) any {
	if f.Type == schema.TypeQuantity && f.Shape == schema.Single && f.EmitEmpty && !f.Pointer {
		return "0"
	}
	return nil
}
