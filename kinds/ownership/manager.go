package ownership

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The operations of managers.
const (
	opApply  = "Apply"
	opUpdate = "Update"
)

// managerIdentity is what tells managers apart. For managers that apply, apiVersion is "": whoever applies
// in a new version goes on as the same manager.
type managerIdentity struct{ name, operation, apiVersion, subresource string }

// String is the manager in a message about a conflict.
//
// As examples: "kubectl" using apps/v1, and "hpa" with subresource "scale". Clients look for these words.
func (i managerIdentity) String() string {
	text := fmt.Sprintf("%q", i.name)
	if i.subresource != "" {
		text += fmt.Sprintf(" with subresource %q", i.subresource)
	}
	if i.operation == opUpdate {
		text += " using " + i.apiVersion
	}
	return text
}

// compare sorts by all parts; of two that differ only in that one wrote a sub-resource, that one comes
// first.
func (i managerIdentity) compare(o managerIdentity) int {
	return cmp.Or(strings.Compare(i.name, o.name), strings.Compare(i.operation, o.operation),
		strings.Compare(i.apiVersion, o.apiVersion), compareSub(i.subresource, o.subresource))
}

// compareSub puts the object itself, "", after all sub-resources.
func compareSub(a, b string) int {
	if a == "" || b == "" {
		return strings.Compare(b, a)
	}
	return strings.Compare(a, b)
}

// A manager is one entry of managedFields, read as far as it is needed.
//
// Of entry, text and set, the later ones are made from the earlier ones when they are needed. A change goes
// the other way: it sets set and drops text and entry.
type manager struct {
	managerIdentity
	version  string // whose paths the set holds
	time     string // RFC 3339; "" if it is not known
	set      Set
	text     string         // the FieldsV1 text of the set; "" if it is not known
	unread   bool           // the set has not been parsed yet: only text holds it
	versions ServedVersions // to find the plan for text
	entry    tree.Tree      // as it is in the object; nil if it has to be made anew
}

// owned is the manager's set.
func (m *manager) owned() Set {
	if !m.unread {
		return m.set
	}
	var plan *schema.Message
	if served, ok := m.versions(m.version); ok {
		plan = served.Message
	}
	r := parseCached(m.text, plan)
	if m.unread, m.set = false, r.set; r.reconciled {
		m.entry = nil
	}
	if !r.canonical {
		m.text = ""
	}
	return m.set
}

// mayOwn tells whether the manager may own a path of s, as far as can be told without parsing.
//
// False is certain. It spares parsing the sets of managers that a write has nothing to do with, who are
// most.
func (m *manager) mayOwn(s Set) bool { return !m.unread || overlaps(m.text, s) }

// ownsNothing tells whether the manager owns nothing.
func (m *manager) ownsNothing() bool { return !m.unread && m.set.Empty() }

// managers are those of one object, in no order.
type managers []*manager

// noFields is the text of an empty set.
const noFields = "{}"

// decode reads metadata.managedFields. The sets are parsed when they are needed.
func decode(list []any, versions ServedVersions) managers {
	all, space := make(managers, 0, len(list)+1), make([]manager, len(list))
	for i, v := range list {
		entry, _ := v.(tree.Tree)
		m := &space[i]
		*m = manager{
			managerIdentity: managerIdentity{
				name: entry.String("manager"), operation: entry.String("operation"),
				apiVersion: entry.String("apiVersion"), subresource: entry.String("subresource"),
			},
			version: entry.String("apiVersion"), time: entry.String("time"), entry: entry,
		}
		m.text, m.versions = entry.String("fieldsV1"), versions
		m.unread = m.text != "" && m.text != noFields
		if m.operation == opApply {
			m.apiVersion = ""
		}
		all = append(all, m)
	}
	return all
}

// reconcile parses the sets of custom kinds, whose definition may have changed what they mean.
//
// Built-in kinds do not change while the server runs.
func (all managers) reconcile() {
	for _, m := range all {
		if !m.unread {
			continue
		}
		if served, ok := m.versions(m.version); ok && served.Message.Custom != nil {
			m.owned()
		}
	}
}

// unchanged tells whether the managers are still those of a list.
func (all managers) unchanged(list []any) bool {
	return len(all) == len(list) && !slices.ContainsFunc(all, func(m *manager) bool { return m.entry == nil })
}

// find is the manager of an identity; nil if there is none.
func (all managers) find(i managerIdentity) *manager {
	for _, m := range all {
		if m.managerIdentity == i {
			return m
		}
	}
	return nil
}

// anyVisible tells whether there is a manager that the writer sees.
func (all managers) anyVisible(w Writer) bool {
	if w.Scale == nil {
		return len(all) > 0
	}
	return slices.ContainsFunc(all, func(m *manager) bool { return m.owned().hasField(w.Scale.Replicas) })
}

// hasOtherVersion tells whether a manager uses another version: a change that one version does not show
// may be one in another.
func (all managers) hasOtherVersion(apiVersion string) bool {
	return slices.ContainsFunc(all, func(m *manager) bool { return m.version != apiVersion })
}

// setFields gives the manager a new set, unless it has the same. An equal set keeps its text and its entry,
// so that the bytes of the object stay the same.
func (m *manager) setFields(s Set) {
	if !Equal(m.owned(), s) {
		m.set, m.text, m.entry = s, "", nil
	}
}

// setFieldsText is setFields for the canonical text of a set.
func (m *manager) setFieldsText(text string, plan *schema.Message) {
	if m.setFields(parseCached(text, plan).set); m.entry == nil {
		m.text = text
	}
}

// hasText tells whether the set is, to the letter, that of a text of a version. An unparsed set is enough:
// a parsed one may have been changed.
//
// It recognizes an apply that repeats the last one: nothing need be pruned then.
func (m *manager) hasText(text, version string) bool {
	return m.unread && m.version == version && m.text == text
}

// fieldsText is the FieldsV1 text of the set.
func (m *manager) fieldsText() string {
	if m.text == "" {
		m.text = string(m.owned().AppendJSON(nil))
	}
	return m.text
}

// setTime sets the time of the manager's last change.
func (m *manager) setTime(now string) {
	if m.time != now {
		m.time, m.entry = now, nil
	}
}

// encode writes managedFields: managers that apply first, then by time and by name. Managers without
// fields are left out. The result is nil if there are none.
//
// The order is fixed, so that equal managers are equal bytes.
func (all managers) encode() []any {
	kept := slices.DeleteFunc(slices.Clone(all), func(m *manager) bool { return m.ownsNothing() })
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

// tree is the manager as an entry of managedFields; the one that was read, if nothing has changed.
func (m *manager) tree() tree.Tree {
	if m.entry != nil {
		return m.entry
	}
	t := tree.Tree{
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

// IsReset tells whether a list of managers is the one with which clients clear all ownership: one empty
// entry.
func IsReset(list []any) bool {
	if len(list) != 1 {
		return false
	}
	entry, _ := list[0].(tree.Tree)
	return len(entry) == 0
}

// Normalize is a list of managers that a client has written, in canonical form, without those who own nothing and those
// who are repeated; false if it cannot be read or is empty.
//
// Clients may edit managedFields like any other field; what cannot be read would later count
// as owning nothing.
func Normalize(list []any) ([]any, bool) {
	all := decode(list, nil)
	if len(all) == 0 {
		return nil, false
	}
	for _, m := range all {
		set, err := Parse(m.text)
		if err != nil && m.text != "" || m.operation != opApply && m.operation != opUpdate ||
			m.version == "" || m.entry.String("fieldsType") != "FieldsV1" {
			return nil, false
		}
		m.set, m.text, m.unread, m.entry = set, "", false, nil
	}
	return all.withoutRepeated().encode(), true
}

// withoutRepeated is the managers without those of which an entry of the same time comes later.
func (all managers) withoutRepeated() managers {
	type identity struct {
		managerIdentity
		version, time string
	}
	last := make(map[identity]*manager, len(all))
	for _, m := range all {
		last[identity{m.managerIdentity, m.version, m.time}] = m
	}
	return slices.DeleteFunc(all, func(m *manager) bool { return last[identity{m.managerIdentity, m.version, m.time}] != m })
}
