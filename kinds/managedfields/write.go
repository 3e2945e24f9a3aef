package managedfields

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Writer describes one write: its manager, scope and time.
type Writer struct {
	Manager     string
	Subresource string // "" for the object itself
	APIVersion  string // as in the request
	Now         string // RFC 3339, UTC
	// KeepsStatus is true if the write does not affect the status.
	KeepsStatus bool
	// OnlyField, if set, is the only field other than metadata that the write affects, such as
	// "status".
	OnlyField string
	// KeepsMetadata lists the metadata fields that the write does not affect. schema.EveryField
	// represents all fields.
	KeepsMetadata []string
	// Scale is set for a write of the scale subresource.
	Scale *Scale
	// LastApplied is the JSON from the last-applied annotation of client-side apply. Fields that
	// still have these values do not conflict.
	LastApplied string
}

func (w *Writer) excluded() excludedFields {
	return excludedFields{status: w.KeepsStatus, onlyField: w.OnlyField, metadata: w.KeepsMetadata}
}

// A ServedVersion describes one version of an object. FromStored and ToStored convert from and to
// the storage version without changing their input. Both are nil for the storage version.
type ServedVersion struct {
	Message              *schema.Message
	FromStored, ToStored func(tree.Tree) tree.Tree
	// Remote is true if converting to this version calls a webhook. Changes of metadata alone skip
	// the conversion, because metadata is the same in all versions.
	Remote bool
}

// ServedVersions returns the version with a name such as "apps/v1", or false if the version is no
// longer served.
type ServedVersions func(apiVersion string) (ServedVersion, bool)

// Update returns managedFields after a write that replaced before with after. Both objects are in
// stored form with defaults. before is nil for a create. The writer becomes the sole owner of all
// changed fields. managed is before's managedFields, which is returned if nothing changes.
//
// An existing object without managers remains without managers unless begin is true. managedFields
// also remains unchanged if a scale writer sees none of the managers.
//
// For example, "ui" creates {"data":{"a":"1"}}, and "ci" sets a to 2 and adds b. Then "ci" owns
// data.a and data.b, and "ui" only data.
func Update(w Writer, versions ServedVersions, before, after tree.Tree, managed []any, begin bool) []any {
	served, ok := versions(w.APIVersion)
	switch {
	case !ok:
		return managed
	case before == nil && len(managed) == 0:
		return newManagedFields(w, served, after)
	case before != nil && len(managed) == 0 && !begin:
		return nil
	}
	all := decode(managed, versions)
	if before != nil && !begin && w.Scale != nil && !all.anyVisible(w) {
		return managed
	}
	u := update{writer: w, versions: versions, before: before, after: after, asEncoded: true}
	own, _ := u.difference(w.APIVersion)
	if own.changed.Empty() && own.removed.Empty() && !all.hasOtherVersion(w.APIVersion) {
		return managed
	}
	if served.Message.Custom != nil {
		all.reconcile()
	}
	if own.changed.Empty() {
		u.takeOver(all, nil)
		return all.capUpdaters().encode()
	}
	me := managerIdentity{w.Manager, opUpdate, w.APIVersion, w.Subresource}
	m := all.find(me)
	u.takeOver(all, m)
	if m == nil {
		m = &manager{managerIdentity: me, version: w.APIVersion}
		all = append(all, m)
	}
	m.setFields(Union(Difference(m.owned(), own.removed), own.changed))
	m.setTime(w.Now)
	return all.capUpdaters().encode()
}

func newManagedFields(w Writer, served ServedVersion, after tree.Tree) []any {
	text := encodeFields(served.Message, served.fromStored(after), w.excluded(), true)
	if text == noFields {
		return nil
	}
	m := manager{managerIdentity: managerIdentity{w.Manager, opUpdate, w.APIVersion, w.Subresource}, version: w.APIVersion, time: w.Now, text: text}
	return []any{m.tree()}
}

// An update is one change to an object. It compares the object once per version that managers use.
type update struct {
	writer        Writer
	versions      ServedVersions
	before, after tree.Tree
	asEncoded     bool
	// config is the apply configuration, or nil. Its nulls are part of the writer's change.
	config tree.Tree
	known  []versionDifference
}

type versionDifference struct {
	apiVersion string
	difference
}

func (u *update) difference(apiVersion string) (difference, bool) {
	for _, d := range u.known {
		if d.apiVersion == apiVersion {
			return d.difference, true
		}
	}
	served, ok := u.versions(apiVersion)
	if !ok {
		return difference{}, false
	}
	c := comparer{excluded: u.writer.excluded(), asEncoded: u.asEncoded}
	before, after := u.before, u.after
	if !served.Remote || !equalBeyondMetadata(before, after) {
		after = served.fromStored(after)
		if before != nil {
			before = served.fromStored(before)
		}
	}
	if before == nil {
		before = tree.Tree{}
	}
	if u.config != nil && apiVersion == u.writer.APIVersion {
		after = combineTrees(served.Message, after, u.config)
	}
	d := c.compare(served.Message, before, after)
	u.known = append(u.known, versionDifference{apiVersion, d})
	return d, true
}

func equalBeyondMetadata(a, b tree.Tree) bool {
	for _, pair := range [][2]tree.Tree{{a, b}, {b, a}} {
		for name, v := range pair[0] {
			if !schema.IsResourceField(name) && !tree.StrictEqual(v, pair[1][name]) {
				return false
			}
		}
	}
	return true
}

func (f ServedVersion) fromStored(t tree.Tree) tree.Tree {
	if f.FromStored != nil {
		t = f.FromStored(t)
	}
	if f.Message.Custom != nil {
		t, _ = replaceEverywhere(t, nil, null{}).(tree.Tree)
	}
	return t
}

// equal reports whether two objects are equal. In custom kinds, an empty field differs from an
// absent one, because no plan declares which empty fields are omitted.
func (f ServedVersion) equal(a, b tree.Tree) bool {
	if f.Message.Custom != nil {
		return tree.StrictEqual(a, b)
	}
	return f.Message.Same(a, b)
}

func (f ServedVersion) toStored(t tree.Tree) tree.Tree {
	if f.Message.Custom != nil {
		t, _ = replaceEverywhere(t, null{}, nil).(tree.Tree)
	}
	if f.ToStored == nil {
		return t
	}
	return f.ToStored(t)
}

// takeOver removes the changed and removed fields from the sets of all managers except self.
// Managers of unserved versions lose all fields, because they cannot be compared.
func (u *update) takeOver(all managers, self *manager) {
	for _, m := range all {
		if m == self {
			continue
		}
		d, ok := u.difference(m.version)
		if !ok {
			m.setFields(Set{})
			continue
		}
		if m.mayOwn(d.changed) || !d.removed.Empty() && m.mayOwn(d.removed) {
			m.setFields(Difference(Difference(m.owned(), d.changed), d.removed))
		}
	}
}
