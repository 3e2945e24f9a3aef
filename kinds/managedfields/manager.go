package managedfields

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	opApply  = "Apply"
	opUpdate = "Update"
)

// managerIdentity identifies a manager. apiVersion is empty for apply managers, which keep their
// identity across versions.
type managerIdentity struct{ name, operation, apiVersion, subresource string }

// String returns the manager as shown in conflicts, such as "kubectl" using apps/v1, or "hpa" with
// subresource "scale". Clients search messages for this text.
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

func (i managerIdentity) compare(o managerIdentity) int {
	return cmp.Or(strings.Compare(i.name, o.name), strings.Compare(i.operation, o.operation),
		strings.Compare(i.apiVersion, o.apiVersion), compareSub(i.subresource, o.subresource))
}

// compareSub sorts "", the main resource, after all subresources.
func compareSub(a, b string) int {
	if a == "" || b == "" {
		return strings.Compare(b, a)
	}
	return strings.Compare(a, b)
}

// A manager is an entry of managedFields. The entry is parsed into text, and text into set, only
// when needed. If the set changes, text and entry are cleared.
type manager struct {
	managerIdentity
	version  string // API version of the paths in the set
	time     string // RFC 3339, or "" if unknown
	set      Set
	text     string         // the set as FieldsV1, or "" if unknown
	unread   bool           // set is not parsed yet; only text is valid
	versions ServedVersions // to find the plan for text
	entry    tree.Tree      // nil if it must be rebuilt
}

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

// mayOwn reports whether the manager may own a path of s. It has no false negatives, so most
// managers' sets need no parsing.
func (m *manager) mayOwn(s Set) bool { return !m.unread || overlaps(m.text, s) }

func (m *manager) ownsNothing() bool { return !m.unread && m.set.Empty() }

type managers []*manager

const noFields = "{}"

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

// reconcile adapts the sets of custom kinds to the current schema, because a CRD may have changed.
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

func (all managers) unchanged(list []any) bool {
	return len(all) == len(list) && !slices.ContainsFunc(all, func(m *manager) bool { return m.entry == nil })
}

func (all managers) find(i managerIdentity) *manager {
	for _, m := range all {
		if m.managerIdentity == i {
			return m
		}
	}
	return nil
}

func (all managers) anyVisible(w Writer) bool {
	if w.Scale == nil {
		return len(all) > 0
	}
	return slices.ContainsFunc(all, func(m *manager) bool { return m.owned().hasField(w.Scale.Replicas) })
}

// hasOtherVersion reports whether any manager uses a version other than apiVersion, because a
// change may be visible only in that version.
func (all managers) hasOtherVersion(apiVersion string) bool {
	return slices.ContainsFunc(all, func(m *manager) bool { return m.version != apiVersion })
}

// setFields replaces the set. If s equals the current set, it keeps text and entry, so that the
// encoding does not change.
func (m *manager) setFields(s Set) {
	if !Equal(m.owned(), s) {
		m.set, m.text, m.entry = s, "", nil
	}
}

func (m *manager) setFieldsText(text string, plan *schema.Message) {
	if m.setFields(parseCached(text, plan).set); m.entry == nil {
		m.text = text
	}
}

// hasText reports whether the manager's set is unparsed, with the given text and version. A
// repeated apply with the same text needs no pruning.
func (m *manager) hasText(text, version string) bool {
	return m.unread && m.version == version && m.text == text
}

func (m *manager) setTime(now string) {
	if m.time != now {
		m.time, m.entry = now, nil
	}
}

// encode returns managedFields without managers that own nothing, or nil if none remains. It sorts
// managers by operation, with apply managers first, then by time and name, so that the encoding is
// deterministic.
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

func (m *manager) tree() tree.Tree {
	if m.entry != nil {
		return m.entry
	}
	if m.text == "" {
		m.text = string(m.owned().AppendJSON(nil))
	}
	t := tree.Tree{
		"manager": m.name, "operation": m.operation, "apiVersion": m.version,
		"fieldsType": "FieldsV1", "fieldsV1": m.text,
	}
	if m.time != "" {
		t["time"] = m.time
	}
	if m.subresource != "" {
		t["subresource"] = m.subresource
	}
	return t
}

// IsReset reports whether a list of managers is one empty entry, with which clients clear all
// ownership.
func IsReset(list []any) bool {
	if len(list) != 1 {
		return false
	}
	entry, _ := list[0].(tree.Tree)
	return len(entry) == 0
}

// Normalize returns a client's managedFields in canonical form, without duplicates or managers that
// own nothing. It returns false if the list is empty or invalid, because an invalid entry would
// later count as an empty set.
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
