package ownership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Writer says who writes, how and when.
type Writer struct {
	Manager     string
	Subresource string // "" for the object itself
	APIVersion  string // of the request
	Now         string // RFC 3339, UTC
	// KeepsStatus: the write does not reach the status, which is left out of its fields.
	KeepsStatus bool
	// OnlyField, if set, is the one field of the object, beside metadata, that the write reaches, as
	// in "status".
	OnlyField string
	// KeepsMetadata are the fields of metadata that the write does not reach; schema.EveryField
	// stands for all.
	KeepsMetadata []string
	// Scale, if set, says that the write is one of a scale.
	Scale *Scale
	// LastApplied is the JSON that a client-side apply of the same client has left in an annotation. The
	// apply does not conflict over the fields that still have the values in it.
	LastApplied string
}

// excluded are the fields that the write leaves out.
func (w *Writer) excluded() excludedFields {
	return excludedFields{status: w.KeepsStatus, onlyField: w.OnlyField, metadata: w.KeepsMetadata}
}

// A ServedVersion is how one version shows an object. FromStored and ToStored convert trees of the stored
// version; they are nil where it is the stored version itself. Neither changes what it is given.
type ServedVersion struct {
	Message              *schema.Message
	FromStored, ToStored func(tree.Tree) tree.Tree
	// Remote says that a conversion asks somebody else, and is to be spared where it tells nothing: where nothing but
	// metadata has changed, which is the same in all versions.
	Remote bool
}

// ServedVersions finds a version by name, as in "apps/v1"; false if it is not served any more.
type ServedVersions func(apiVersion string) (ServedVersion, bool)

// Update is managedFields after a write that replaced before (nil for a create) by after, both in stored
// form and with their defaults: what has changed becomes the writer's and is taken from all others.
// managed is what before had; the result may be the same list.
//
// An object without managers stays without, unless it is new or begin is set. So does one whose managers
// are all invisible to the writer of a scale.
//
// As an example, "ui" creates {"data":{"a":"1"}}, and "ci" updates a to 2 and adds b. Then "ci" owns data.a
// and data.b, and "ui" only data, which it has created.
func Update(w Writer, versions ServedVersions, before, after tree.Tree, managed []any, begin bool) []any {
	switch {
	case before == nil && len(managed) == 0:
		return newManagedFields(w, versions, after)
	case before != nil && len(managed) == 0 && !begin:
		return nil
	}
	all := decode(managed, versions)
	if before != nil && !begin && !all.anyVisible(w) {
		return managed
	}
	u := update{writer: w, versions: versions, before: before, after: after, asEncoded: true}
	own, ok := u.difference(w.APIVersion)
	if !ok || own.changed.Empty() && own.removed.Empty() && !all.hasOtherVersion(w.APIVersion) {
		return managed
	}
	all.reconcile()
	all = u.takeOver(all, nil)
	if !own.changed.Empty() {
		me := managerIdentity{w.Manager, opUpdate, w.APIVersion, w.Subresource}
		m := all.find(me)
		if m == nil {
			m = &manager{managerIdentity: me, version: w.APIVersion}
			all = append(all, m)
		}
		m.setFields(Union(m.owned(), own.changed))
		m.setTime(w.Now)
	}
	return all.capUpdaters().encode()
}

// newManagedFields is managedFields of a new object: its writer owns all that it has.
func newManagedFields(w Writer, versions ServedVersions, after tree.Tree) []any {
	served, ok := versions(w.APIVersion)
	if !ok {
		return nil
	}
	text := encodeFields(served.Message, served.fromStored(after), w.excluded(), true)
	if text == noFields {
		return nil
	}
	m := manager{managerIdentity: managerIdentity{w.Manager, opUpdate, w.APIVersion, w.Subresource}, version: w.APIVersion, time: w.Now, text: text}
	return []any{m.tree()}
}

// An update is one change of an object as its managers see it.
//
// The comparison is made once for each version in which a manager owns fields, mostly for one.
type update struct {
	writer        Writer
	versions      ServedVersions
	before, after tree.Tree
	asEncoded     bool
	// config, if set, is what is applied: its nulls are part of the change as the writer sees it.
	config tree.Tree
	known  []versionDifference
}

// A versionDifference is a difference in one version.
type versionDifference struct {
	apiVersion string
	difference
}

// difference is the change in one version; false if that is not served any more. It is made once for all
// managers of the version.
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

// equalBeyondMetadata tells whether two objects differ in their metadata at most.
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

// fromStored is FromStored, which may be nil. The nulls of an object of a custom kind are values in what it returns.
func (f ServedVersion) fromStored(t tree.Tree) tree.Tree {
	if f.FromStored != nil {
		t = f.FromStored(t)
	}
	if f.Message.Custom != nil {
		t, _ = replaceEverywhere(t, nil, null{}).(tree.Tree)
	}
	return t
}

// equal tells whether two objects are the same to clients of the version. In objects of custom kinds an
// empty value differs from an absent one: no plan says which fields are left out when they are empty.
func (f ServedVersion) equal(a, b tree.Tree) bool {
	if f.Message.Custom != nil {
		return tree.StrictEqual(a, b)
	}
	return f.Message.Same(a, b)
}

// toStored is ToStored, which may be nil.
func (f ServedVersion) toStored(t tree.Tree) tree.Tree {
	if f.Message.Custom != nil {
		t, _ = replaceEverywhere(t, null{}, nil).(tree.Tree)
	}
	if f.ToStored == nil {
		return t
	}
	return f.ToStored(t)
}

// conflicts are, by manager, the changed fields that others than self own.
//
// What is gone is no conflict: an apply removes only what no other manager owns.
func (u *update) conflicts(all managers, self *manager) map[*manager]Set {
	found := map[*manager]Set{}
	for _, m := range all {
		if m == self {
			continue
		}
		d, ok := u.difference(m.version)
		if !ok {
			continue
		}
		if !m.mayOwn(d.changed) {
			continue
		}
		if s := Intersection(m.owned(), d.changed); !s.Empty() {
			found[m] = s
		}
	}
	return found
}

// takeOver takes what has changed or is gone from all managers but self. Managers of versions that are not
// served any more lose everything, since nothing can be compared for them.
func (u *update) takeOver(all managers, self *manager) managers {
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
	return all
}

// newConflict is the Status for an apply that changes what others own.
//
// For one field the message is, for instance:
//
//	Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas
//
// For several, each manager is followed by its fields, one in a line. The causes hold the same for
// programs.
func newConflict(w Writer, found map[*manager]Set) *meta.Status {
	holders := make([]*manager, 0, len(found))
	for m := range found {
		holders = append(holders, m)
	}
	slices.SortFunc(holders, func(a, b *manager) int { return a.managerIdentity.compare(b.managerIdentity) })
	var causes []meta.Cause
	var lines []string
	for _, m := range holders {
		who := w.visibleIdentity(m.managerIdentity)
		lines = append(lines, fmt.Sprintf("conflicts with %s:", who))
		for _, path := range w.visiblePaths(found[m]) {
			lines = append(lines, "- "+path)
			causes = append(causes, meta.Cause{Type: meta.CauseFieldConflict, Field: path, Message: "conflict with " + who.String()})
		}
	}
	text := fmt.Sprintf("Apply failed with %d conflicts: %s", len(causes), strings.Join(lines, "\n"))
	if len(causes) == 1 {
		text = fmt.Sprintf("Apply failed with 1 conflict: %s: %s", causes[0].Message, causes[0].Field)
	}
	return meta.NewApplyConflict(text, causes)
}
