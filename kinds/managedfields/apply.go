package managedfields

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Apply merges config (in the writer's version) into live (in the stored version, or nil). It
// returns the merged object in the stored version, without managedFields, and the new
// managedFields. Fields from the writer's last apply that config omits are removed, unless another
// manager owns them. If nothing changes, Apply returns live and managed themselves.
//
// Without force, a change to other managers' fields is a conflict, returned as a *meta.Status.
// config must have passed CheckConfig.
//
// For example, "ci" applies {"data":{"a":"1"}} to a ConfigMap that "ui" has created with {"b":"2"}.
// If "ci" next applies {"data":{"b":"3"}}, the apply conflicts with "ui" over .data.b. With force,
// b becomes 3, "ci" alone owns b, and the key a is removed.
func Apply(w Writer, versions ServedVersions, live, config tree.Tree, managed []any, force bool) (tree.Tree, []any, error) {
	served, ok := versions(w.APIVersion)
	if !ok {
		return nil, nil, nil
	}
	a := applier{writer: w, versions: versions, served: served, managers: decode(managed, versions)}
	a.managers.reconcile()
	a.addBeforeFirstApply(live)
	me := managerIdentity{name: w.Manager, operation: opApply, subresource: w.Subresource}
	self := a.managers.find(me)
	if self == nil {
		self = &manager{managerIdentity: me}
		a.managers = append(a.managers, self)
	}
	last, lastVersion := Set{}, self.version
	named := config
	config = withNulls(served.Message, config)
	nulls := !tree.SameRef(named, config)
	text := encodeFields(served.Message, config, w.excluded(), false)
	same := self.hasText(text, w.APIVersion)
	if !same {
		last = self.owned()
		self.setFieldsText(text, served.Message)
	}
	if self.version != w.APIVersion {
		self.version, self.entry = w.APIVersion, nil
	}
	merged := combineTrees(served.Message, served.fromStored(live), config)
	if nulls {
		merged = resolveNulls(served.Message, merged)
	}
	merged = served.toStored(merged)
	if self.entry != nil && !nulls && served.equal(merged, live) {
		return live, managed, nil
	}
	pruned := !same && (lastVersion != w.APIVersion || !self.set.holds(last))
	if pruned {
		merged = a.withExplicit(a.prune(merged, last, lastVersion), config)
	}
	if len(managed) == 0 && self.ownsNothing() && live != nil && served.equal(merged, live) {
		return live, nil, nil // no manager has begun to own fields
	}
	u := update{writer: w, versions: versions, before: live, after: merged}
	if nulls {
		u.config = config
	}
	if live == nil {
		u.before = tree.Tree{}
	}
	if found := u.conflicts(a.managers, self); len(found) > 0 && !force {
		if found = a.withoutLastApplied(found, live, named); len(found) > 0 {
			return nil, nil, newConflict(w, found)
		}
	}
	u.takeOver(a.managers, self)
	if nulls && a.managers.unchanged(managed) && served.equal(merged, live) {
		return live, managed, nil // its nulls were null before
	}
	d, _ := u.difference(w.APIVersion)
	if self.entry == nil || !d.changed.Empty() || !d.removed.Empty() {
		self.setTime(w.Now)
	}
	if pruned { // emptied values still count when owners are looked up
		merged = withoutEmptied(merged).(tree.Tree)
	}
	return merged, a.managers.encode(), nil
}

// An applier performs one apply. It works on copies of the managers, and changes neither them nor
// the live object.
type applier struct {
	writer   Writer
	versions ServedVersions
	served   ServedVersion
	managers managers
}

// beforeFirstApply is the manager of fields that were set before any manager was recorded.
const beforeFirstApply = "before-first-apply"

// addBeforeFirstApply adds a manager that owns all existing fields, if the live object has no
// managers yet. An apply that changes these fields then conflicts.
func (a *applier) addBeforeFirstApply(live tree.Tree) {
	if live == nil || a.managers.anyVisible(a.writer) {
		return
	}
	a.managers = append(a.managers, &manager{
		managerIdentity: managerIdentity{beforeFirstApply, opUpdate, a.writer.APIVersion, a.writer.Subresource},
		version:         a.writer.APIVersion, set: a.existingFields(a.served.fromStored(live)), time: a.writer.Now,
	})
}

func (a *applier) existingFields(t tree.Tree) Set {
	if scale := a.writer.Scale; scale != nil {
		return scale.existingFields(t)
	}
	c := comparer{excluded: a.writer.excluded(), asEncoded: true}
	return c.compare(a.served.Message, tree.Tree{}, t).changed
}

// prune removes the fields of the writer's last apply that the current apply omits, unless another
// manager owns them. last and version are the fields and version of the last apply.
//
// last also contains objects and lists with other fields. prune therefore removes the whole set
// first, and then restores fields that a manager owns or that are not in the set.
func (a *applier) prune(merged tree.Tree, last Set, version string) tree.Tree {
	if last.Empty() {
		return merged
	}
	served, ok := a.versions(version)
	if !ok {
		return merged
	}
	whole := served.fromStored(merged)
	pruned := withoutPaths(served.Message, whole, namedRoot(served.Message, last))
	// Metadata is removed like any other object, except for fields that no manager can own.
	if last.find(fieldElement("metadata")) != nil {
		pruned["metadata"] = unownedMetadataOf(whole)
	}
	pruned = a.addBackOwned(merged, served, pruned, version)
	// Restore the fields of removed objects and lists that were not in the last apply.
	gone := Difference(a.named(served.Message, whole), a.named(served.Message, pruned))
	pruned = withoutPaths(served.Message, whole, Intersection(gone, namedRoot(served.Message, last)))
	if version != a.writer.APIVersion {
		pruned = dropEmptied(pruned)
	}
	return served.toStored(pruned)
}

func (a *applier) withExplicit(merged, config tree.Tree) tree.Tree {
	view := a.served.fromStored(merged)
	made := withExplicit(a.served.Message, view, config)
	if tree.SameRef(made, view) {
		return merged
	}
	return a.served.toStored(made)
}

// dropEmptied drops objects and lists that have become empty, because a conversion to another
// version drops them too.
func dropEmptied(t tree.Tree) tree.Tree { return withoutEmptied(t).(tree.Tree) }

func unownedMetadataOf(t tree.Tree) tree.Tree {
	out := tree.Tree{}
	for name, v := range t.Object("metadata") {
		if unownedMetadata[name] {
			out[name] = v
		}
	}
	return out
}

func (a *applier) named(m *schema.Message, t tree.Tree) Set {
	return namedRoot(m, fields(m, t, excludedFields{}))
}

// addBackOwned returns pruned with the removed fields that any manager owns. first is the version
// of pruned. For each other version in which managers own fields, it converts pruned to that
// version, completes it, and converts it back. Conversions lose no fields, so this only adds owned
// fields.
func (a *applier) addBackOwned(merged tree.Tree, served ServedVersion, pruned tree.Tree, first string) tree.Tree {
	sets, owned := map[string][]Set{}, map[string]Set{}
	for _, m := range a.managers {
		sets[m.version] = append(sets[m.version], m.owned())
	}
	for version, all := range sets {
		owned[version] = unionAll(all)
	}
	pruned = addBack(served, merged, pruned, owned[first])
	for _, version := range slices.Sorted(maps.Keys(owned)) {
		other, ok := a.versions(version)
		if version == first || !ok {
			continue
		}
		converted := other.fromStored(served.toStored(dropEmptied(pruned)))
		pruned = served.fromStored(other.toStored(dropEmptied(addBack(other, merged, converted, owned[version]))))
	}
	return pruned
}

func addBack(served ServedVersion, merged, pruned tree.Tree, owned Set) tree.Tree {
	whole := served.fromStored(merged)
	all := namedRoot(served.Message, fields(served.Message, whole, excludedFields{}))
	left := namedRoot(served.Message, fields(served.Message, pruned, excludedFields{}))
	gone := Difference(Difference(all, left), namedRoot(served.Message, owned))
	return withoutPaths(served.Message, whole, gone)
}
