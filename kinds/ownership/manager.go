package ownership

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// The operations of managers.
const (
	opApply  = "Apply"
	opUpdate = "Update"
)

// identity is what tells managers apart. Who applies is the same in every version.
type identity struct{ name, operation, apiVersion, subresource string }

// String is the manager in a message about a conflict.
func (i identity) String() string {
	text := fmt.Sprintf("%q", i.name)
	if i.subresource != "" {
		text += fmt.Sprintf(" with subresource %q", i.subresource)
	}
	if i.operation == opUpdate {
		text += " using " + i.apiVersion
	}
	return text
}

// compare puts those who write a sub-resource before the one who else is the same.
func (i identity) compare(o identity) int {
	return cmp.Or(strings.Compare(i.name, o.name), strings.Compare(i.operation, o.operation),
		strings.Compare(i.apiVersion, o.apiVersion), compareSub(i.subresource, o.subresource))
}

func compareSub(a, b string) int {
	if a == "" || b == "" {
		return strings.Compare(b, a)
	}
	return strings.Compare(a, b)
}

// A manager is one entry of managedFields.
type manager struct {
	identity
	version string // whose form the set is of
	time    string // RFC 3339; "" if it is not known
	set     Set
	text    string      // the FieldsV1 form of the set; "" if it is not known
	unread  bool        // nobody has looked at the set yet: only text holds it
	forms   Forms       // where text has its plan
	entry   schema.Tree // as it is in the object; nil if it has to be made anew
}

// owned is the manager's set.
func (m *manager) owned() Set {
	if !m.unread {
		return m.set
	}
	var plan *schema.Message
	if form, ok := m.forms(m.version); ok {
		plan = form.Message
	}
	r := read(m.text, plan)
	if m.unread, m.set = false, r.set; r.news {
		m.entry = nil
	}
	if !r.exact {
		m.text = ""
	}
	return m.set
}

// touches tells whether a set may hold paths that are the manager's.
func (m *manager) touches(s Set) bool { return !m.unread || overlaps(m.text, s) }

// idle tells whether the manager owns nothing.
func (m *manager) idle() bool { return !m.unread && m.set.Empty() }

// managers are those of one object, in no order.
type managers []*manager

// noFields is the text of an empty set.
const noFields = "{}"

// decode reads metadata.managedFields. The sets are read when they are asked for.
func decode(list []any, forms Forms) managers {
	all, space := make(managers, 0, len(list)+1), make([]manager, len(list))
	for i, v := range list {
		entry, _ := v.(schema.Tree)
		m := &space[i]
		*m = manager{
			identity: identity{
				name: rules.Text(entry, "manager"), operation: rules.Text(entry, "operation"),
				apiVersion: rules.Text(entry, "apiVersion"), subresource: rules.Text(entry, "subresource"),
			},
			version: rules.Text(entry, "apiVersion"), time: rules.Text(entry, "time"), entry: entry,
		}
		m.text, m.forms = rules.Text(entry, "fieldsV1"), forms
		m.unread = m.text != "" && m.text != noFields
		if m.operation == opApply {
			m.apiVersion = ""
		}
		all = append(all, m)
	}
	return all
}

// reconcile reads the sets that a changed definition may have made another: those of custom kinds.
func (all managers) reconcile() {
	for _, m := range all {
		if !m.unread {
			continue
		}
		if form, ok := m.forms(m.version); ok && form.Message.Custom != nil {
			m.owned()
		}
	}
}

// stay tells whether the managers are still those of a list.
func (all managers) stay(list []any) bool {
	return len(all) == len(list) && !slices.ContainsFunc(all, func(m *manager) bool { return m.entry == nil })
}

// find is the manager of an identity; nil if there is none.
func (all managers) find(i identity) *manager {
	for _, m := range all {
		if m.identity == i {
			return m
		}
	}
	return nil
}

// known tells whether there is a manager as a writer sees them.
func (all managers) known(w Writer) bool {
	if w.Scale == nil {
		return len(all) > 0
	}
	return slices.ContainsFunc(all, func(m *manager) bool { return m.owned().hasField(w.Scale.Replicas) })
}

// otherThan tells whether a manager sees the object in another version: what one version does
// not show may change in another.
func (all managers) otherThan(apiVersion string) bool {
	return slices.ContainsFunc(all, func(m *manager) bool { return m.version != apiVersion })
}

// give makes a set the manager's own, now.
func (m *manager) give(s Set) {
	if !Equal(m.owned(), s) {
		m.set, m.text, m.entry = s, "", nil
	}
}

// giveText is give for the set of a text in the form that is kept.
func (m *manager) giveText(text string, plan *schema.Message) {
	if m.give(read(text, plan).set); m.entry == nil {
		m.text = text
	}
}

// holds tells whether the set is, to the letter, that of a text of a version.
func (m *manager) holds(text, version string) bool {
	return m.unread && m.version == version && m.text == text
}

// fieldsText is the FieldsV1 form of the set.
func (m *manager) fieldsText() string {
	if m.text == "" {
		m.text = string(m.owned().AppendJSON(nil))
	}
	return m.text
}

// stamp sets the time of the manager's last change.
func (m *manager) stamp(now string) {
	if m.time != now {
		m.time, m.entry = now, nil
	}
}

// encode writes managedFields: those who apply first, then by time and by name. Managers
// without fields are gone. nil stands for none.
func (all managers) encode() []any {
	kept := slices.DeleteFunc(slices.Clone(all), func(m *manager) bool { return m.idle() })
	slices.SortFunc(kept, func(a, b *manager) int {
		return cmp.Or(strings.Compare(a.operation, b.operation), strings.Compare(a.time, b.time), strings.Compare(a.name, b.name),
			strings.Compare(a.version, b.version), strings.Compare(a.subresource, b.subresource))
	})
	if len(kept) == 0 {
		return nil
	}
	list := make([]any, len(kept))
	for i, m := range kept {
		list[i] = m.tree()
	}
	return list
}

// tree is the manager as an entry.
func (m *manager) tree() schema.Tree {
	if m.entry != nil {
		return m.entry
	}
	t := schema.Tree{
		"manager": m.name, "operation": m.operation, "apiVersion": m.version,
		"fieldsType": "FieldsV1", "fieldsV1": m.fieldsText(),
	}
	if m.time != "" {
		t["time"] = m.time
	}
	if m.subresource != "" {
		t["subresource"] = m.subresource
	}
	return t
}

// Resets tells whether a list of managers is the one that makes everybody forget what they
// own: one entry with nothing in it.
func Resets(list []any) bool {
	if len(list) != 1 {
		return false
	}
	entry, _ := list[0].(schema.Tree)
	return len(entry) == 0
}

// Normalize is a list of managers that a client has written, in the form that is kept; false if
// it cannot be read.
func Normalize(list []any) ([]any, bool) {
	all := decode(list, nil)
	for _, m := range all {
		set, err := Parse(m.text)
		if err != nil && m.text != "" || m.operation != opApply && m.operation != opUpdate ||
			m.version == "" || rules.Text(m.entry, "fieldsType") != "FieldsV1" {
			return nil, false
		}
		m.set, m.text, m.unread, m.entry = set, "", false, nil
	}
	out := all.encode()
	return out, len(out) > 0
}

// Covers tells whether an object of message m has all the fields that the causes of a conflict
// name.
func Covers(m *schema.Message, t schema.Tree, causes []meta.Cause) bool {
	paths := fields(m, t, skip{}).Paths()
	for _, cause := range causes {
		if cause.Type == meta.CauseFieldConflict && !slices.Contains(paths, cause.Field) {
			return false
		}
	}
	return true
}
