package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Compile compiles the value plans of messages, including nested ones, from their field options. It
// skips messages that have a plan. The error joins all unknown formats and invalid patterns. isOn
// reports whether a feature is enabled. A nil isOn disables all features.
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

// A compiler contains the state of one Compile call. Messages may be recursive, so it first
// registers them all and finds those that need plans. Then it builds the plans, which refer to each
// other.
type compiler struct {
	isOn   func(feature string) bool
	order  []*schema.Message                 // messages without a plan
	parts  map[*schema.Message]*schema.Parts // parts of the messages in order
	fields map[*schema.Field]*evaluators     // evaluators of fields that have any
	// Messages that contain, at any depth, a field with the respective property. Validation skips
	// others.
	checked, defaulted, immutable, featured map[*schema.Message]bool
	faults                                  []error
}

func (c *compiler) collect(m *schema.Message) {
	if m.Values != nil || c.parts[m] != nil {
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
	}, anywhere, func(old *schema.ValuePlan) bool { return old.Evaluators != nil })
	c.defaulted = c.closure(func(_ *schema.Message, f *schema.Field) bool { return changesWhenDefaulted(f) }, anywhere,
		func(old *schema.ValuePlan) bool { return len(old.Parts.Defaulted) > 0 })
	c.immutable = c.closure(func(_ *schema.Message, f *schema.Field) bool { return f.Immutable }, isSingle,
		func(old *schema.ValuePlan) bool { return len(old.Parts.Immutable) > 0 })
	c.featured = c.closure(func(_ *schema.Message, f *schema.Field) bool { return c.isOff(f) }, anywhere,
		func(old *schema.ValuePlan) bool { return len(old.Parts.Featured) > 0 })
}

func (c *compiler) isOff(f *schema.Field) bool {
	return f.Feature != "" && (c.isOn == nil || !c.isOn(f.Feature))
}

func anywhere(*schema.Field) bool        { return true }
func isSingle(f *schema.Field) bool      { return f.Shape == schema.Single }
func isAlwaysThere(f *schema.Field) bool { return isSingle(f) && f.EmitEmpty && !f.Pointer }

// isDemanding reports whether m has required fields, so that even an empty object is invalid.
func isDemanding(m *schema.Message) bool {
	return slices.ContainsFunc(m.Fields, func(f *schema.Field) bool {
		return f.Required || f.Type == schema.TypeMessage && isAlwaysThere(f) && isDemanding(f.Message)
	})
}

// closure returns the messages that have a field selected by has, directly or in nested messages.
// It descends into the fields selected by into. For messages that already have a plan, it calls had
// instead of has. It takes quadratic time, but runs only once per message.
func (c *compiler) closure(has func(*schema.Message, *schema.Field) bool, into func(*schema.Field) bool, had func(*schema.ValuePlan) bool) map[*schema.Message]bool {
	found := map[*schema.Message]bool{}
	for _, m := range c.order {
		for _, f := range m.Fields {
			if f.Type == schema.TypeMessage && f.Message.Values != nil {
				found[f.Message] = had(f.Message.Values)
			}
		}
	}
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

func (c *compiler) partsOf(m *schema.Message) *schema.Parts {
	if p := c.parts[m]; p != nil {
		return p
	}
	return m.Values.Parts
}

// fill builds the plan of a message. It omits fields without checks and defaults, so that
// validation time does not depend on the number of fields.
func (c *compiler) fill(m *schema.Message) {
	p := c.parts[m]
	p.Ordered = true
	for _, f := range m.Fields {
		switch {
		case f.Immutable:
			p.Immutable = append(p.Immutable, schema.ImmutablePart{Field: f})
		case f.Type == schema.TypeMessage && f.Shape == schema.Single && c.immutable[f.Message]:
			p.Immutable = append(p.Immutable, schema.ImmutablePart{Field: f, Parts: c.partsOf(f.Message)})
		}
		switch {
		case c.isOff(f):
			p.Featured = append(p.Featured, schema.FeaturedPart{Name: f.Name, Feature: f.Feature})
		case f.Type == schema.TypeMessage && c.featured[f.Message]:
			p.Featured = append(p.Featured, schema.FeaturedPart{Name: f.Name, Parts: c.partsOf(f.Message), Shape: f.Shape, Keep: len(m.OneOf) > 0})
		}
		checked, defaulted := c.isChecked(f), c.isDefaulted(f)
		if !checked && !defaulted {
			continue
		}
		part := schema.Part{Name: f.Name, ValuePlan: c.field(f), Required: f.Required, RequiredDetail: f.RequiredDetail, RequiredWhen: f.RequiredWhen,
			CheckAbsent: f.Type == schema.TypeMessage && isAlwaysThere(f) && isDemanding(f.Message)}
		if checked {
			p.Checked = append(p.Checked, part)
		}
		if defaulted {
			p.Defaulted = append(p.Defaulted, part)
		}
	}
	p.Filled = len(p.Defaulted)
	m.Values = &schema.ValuePlan{Parts: p, Evaluators: c.inside(m)}
}

func (c *compiler) isChecked(f *schema.Field) bool {
	return f.Required || f.RequiredWhen != nil || c.fields[f] != nil || f.Type == schema.TypeMessage && c.checked[f.Message]
}

func (c *compiler) isDefaulted(f *schema.Field) bool {
	return !c.isOff(f) && (changesWhenDefaulted(f) || f.Type == schema.TypeMessage && c.defaulted[f.Message])
}

func changesWhenDefaulted(f *schema.Field) bool {
	return filledDefault(f) != nil || nullDefault(f) != nil || f.WholeThousandths
}

func (c *compiler) inside(m *schema.Message) []schema.Evaluator {
	if m.Values != nil {
		return m.Values.Evaluators
	}
	if !c.checked[m] {
		return nil
	}
	all := []schema.Evaluator{Fields{c.parts[m]}}
	for _, o := range m.OneOf {
		all = append(all, oneOf(o))
	}
	return all
}

// field builds the plan of a field. As in Kubernetes, checks of a whole list run after its items
// are checked. Only checks that can make the item checks unnecessary, such as MaxItems, run first.
func (c *compiler) field(f *schema.Field) *schema.ValuePlan {
	made := c.fields[f]
	if made == nil {
		made = &evaluators{}
	}
	value := &schema.ValuePlan{Evaluators: made.value, Absence: schema.AbsentIfNull, WholeThousandths: f.WholeThousandths}
	if f.Type == schema.TypeMessage {
		value.Evaluators = slices.Concat(value.Evaluators, c.inside(f.Message))
		value.Parts = c.partsOf(f.Message)
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

// filledDefault returns the value that defaulting adds to an object, or nil. It returns nil for ""
// in a field that is omitted when empty. An empty default matters only as the key of a list map.
func filledDefault(f *schema.Field) any {
	if f.Default == "" && !f.EmitEmpty && !f.Pointer {
		return nil
	}
	return f.Default
}

func zeroOf(f *schema.Field) any {
	if f.Type == schema.TypeString {
		return ""
	}
	return int64(0)
}

// nullDefault returns the value that replaces a null or absent value.
func nullDefault(f *schema.Field) any {
	if f.Type == schema.TypeQuantity && f.Shape == schema.Single && f.EmitEmpty && !f.Pointer {
		return "0"
	}
	return nil
}
