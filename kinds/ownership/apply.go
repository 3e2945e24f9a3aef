package ownership

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Apply puts config, an object in the writer's version that holds what the writer wants, over live: fields
// that config names get its values, and fields that the writer has named before and does not name any more
// are removed, unless somebody else owns them. live is nil for an object that does not exist. It is in
// stored form, and so is the result, which lacks managedFields; those are the second result. Where nothing
// changes, neither the object nor its managers, the results are live and managed themselves. Without
// force, fields that belong to others and would change are a conflict, a *meta.Status.
//
// config must have passed CheckConfig.
//
// An example: the writer "ci" applies {"data":{"a":"1"}} to a ConfigMap that "ui" has created with
// {"b":"2"}. Then the object has both keys, and "ci" owns data.a. If "ci" now applies {"data":{"b":"3"}},
// that is a conflict with "ui" over .data.b; with force b is 3, owned by "ci" alone, and a is gone, since
// only "ci" had it.
//
// The steps are: find the writer's last set, combine, prune what is named no more, find conflicts, and take
// what has changed from the others. Each step that finds nothing to do shares the memory of its input, so
// an apply that changes nothing ends early.
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
		return live, nil, nil // nobody has begun to own anything
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
	a.managers = u.takeOver(a.managers, self)
	if nulls && a.managers.unchanged(managed) && served.equal(merged, live) {
		return live, managed, nil // its nulls were null before
	}
	d, _ := u.difference(w.APIVersion)
	if self.entry == nil || !d.changed.Empty() || !d.removed.Empty() {
		self.setTime(w.Now)
	}
	if pruned { // what is emptied still counts as a value when owners are looked for
		merged = withoutEmptied(merged).(tree.Tree)
	}
	return merged, a.managers.encode(), nil
}

// An applier carries out one apply.
//
// All of its methods leave the live object alone; the managers are copies, made by decode.
type applier struct {
	writer   Writer
	versions ServedVersions
	served   ServedVersion
	managers managers
}

// beforeFirstApply is the manager of what was there before the first manager was known.
const beforeFirstApply = "before-first-apply"

// addBeforeFirstApply gives the fields of a live object without managers to a manager of its own, so that
// changing them by an apply is a conflict instead of an unnoticed overwrite.
func (a *applier) addBeforeFirstApply(live tree.Tree) {
	if live == nil || a.managers.anyVisible(a.writer) {
		return
	}
	a.managers = append(a.managers, &manager{
		managerIdentity: managerIdentity{beforeFirstApply, opUpdate, a.writer.APIVersion, a.writer.Subresource},
		version:         a.writer.APIVersion, set: a.existingFields(a.served.fromStored(live)), time: a.writer.Now,
	})
}

// existingFields are the fields of an object as the writer sees it.
func (a *applier) existingFields(t tree.Tree) Set {
	if scale := a.writer.Scale; scale != nil {
		return scale.existingFields(t)
	}
	c := comparer{excluded: a.writer.excluded(), asEncoded: true}
	return c.compare(a.served.Message, tree.Tree{}, t).changed
}

// prune removes from merged what the writer has named in its last apply and does not name now, unless
// somebody else owns it. version is that of the last apply.
//
// The difficulty is that paths of the set lead through objects and lists that others share. So first
// everything that was named is removed, then what is owned is put back, then what is gone beyond the last
// set is put back too.
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
	if last.find(fieldElement("metadata")) != nil { // it is removed like any other message, except for what has no owner
		pruned["metadata"] = unownedMetadataOf(whole)
	}
	pruned = a.addBackOwned(merged, served, pruned, version)
	// Removing a whole object or list has removed more than was named: that is put back.
	gone := Difference(a.named(served.Message, whole), a.named(served.Message, pruned))
	pruned = withoutPaths(served.Message, whole, Intersection(gone, namedRoot(served.Message, last)))
	if version != a.writer.APIVersion {
		pruned = dropEmptied(pruned)
	}
	return served.toStored(pruned)
}

// withExplicit is the function of this name for an object in stored form.
func (a *applier) withExplicit(merged, config tree.Tree) tree.Tree {
	view := a.served.fromStored(merged)
	made := withExplicit(a.served.Message, view, config)
	if tree.SameRef(made, view) {
		return merged
	}
	return a.served.toStored(made)
}

// dropEmptied is a tree as it is converted to another version: an object or list that has lost everything is
// absent.
func dropEmptied(t tree.Tree) tree.Tree { return withoutEmptied(t).(tree.Tree) }

// unownedMetadataOf are the fields of an object's metadata without owner.
func unownedMetadataOf(t tree.Tree) tree.Tree {
	out := tree.Tree{}
	for name, v := range t.Object("metadata") {
		if unownedMetadata[name] {
			out[name] = v
		}
	}
	return out
}

// named is the set of what an object has, with the fields that lead there.
func (a *applier) named(m *schema.Message, t tree.Tree) Set {
	return namedRoot(m, fields(m, t, excludedFields{}))
}

// addBackOwned puts back into pruned, which is in the version first, what any manager owns. Owners of
// other versions own fields of their version, so that pruned goes through each of them.
//
// Conversions lose no fields, so going there and back through each version adds what is owned and nothing else.
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

// addBack is merged, in one version, without what pruned lacks and nobody owns.
//
// It is computed by what to remove: the paths of the whole object, without those that are left or owned.
func addBack(served ServedVersion, merged, pruned tree.Tree, owned Set) tree.Tree {
	whole := served.fromStored(merged)
	all := namedRoot(served.Message, fields(served.Message, whole, excludedFields{}))
	left := namedRoot(served.Message, fields(served.Message, pruned, excludedFields{}))
	gone := Difference(Difference(all, left), namedRoot(served.Message, owned))
	return withoutPaths(served.Message, whole, gone)
}
