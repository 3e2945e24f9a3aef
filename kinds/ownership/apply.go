package ownership

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Apply puts config, an object in the form of the writer's version that holds what the writer
// wants, over live: fields that config names get its values, and those that the writer has
// named before and does not any more go, unless somebody else owns them. live is nil for an
// object that does not exist; it is in stored form, and so is the result, which lacks
// managedFields; those are the second result. Where nothing changes, neither the object nor
// its managers, they are live and managed themselves. Without force, fields that belong to others and
// would change are a conflict, a *meta.Status.
//
// config must have passed CheckItems.
func Apply(w Writer, forms Forms, live, config schema.Tree, managed []any, force bool) (schema.Tree, []any, error) {
	form, ok := forms(w.APIVersion)
	if !ok {
		return nil, nil, nil
	}
	a := applying{writer: w, forms: forms, form: form, all: decode(managed, forms)}
	a.all.reconcile()
	a.begin(live)
	me := identity{name: w.Manager, operation: opApply, subresource: w.Subresource}
	self := a.all.find(me)
	if self == nil {
		self = &manager{identity: me}
		a.all = append(a.all, self)
	}
	last, lastVersion := Set{}, self.version
	named := config
	config = withNulls(form.Message, config)
	nulls := !schema.Same(named, config)
	text := inventoryOf(form.Message, config, w.skip(), false)
	same := self.holds(text, w.APIVersion)
	if !same {
		last = self.owned()
		self.giveText(text, form.Message)
	}
	if self.version != w.APIVersion {
		self.version, self.entry = w.APIVersion, nil
	}
	merged := combineTrees(form.Message, form.show(live), config)
	if nulls {
		merged = settled(form.Message, merged)
	}
	merged = form.store(merged)
	if self.entry != nil && !nulls && form.same(merged, live) {
		return live, managed, nil
	}
	pruned := !same && (lastVersion != w.APIVersion || !self.set.holds(last))
	if pruned {
		merged = a.prune(merged, last, lastVersion)
	}
	u := update{writer: w, forms: forms, before: live, after: merged}
	if nulls {
		u.config = config
	}
	if live == nil {
		u.before = schema.Tree{}
	}
	if found := u.conflicts(a.all, self); len(found) > 0 && !force {
		return nil, nil, conflict(w, found)
	}
	a.all = u.take(a.all, self)
	if nulls && a.all.stay(managed) && form.same(merged, live) {
		return live, managed, nil // its nulls were null before
	}
	d, _ := u.difference(w.APIVersion)
	if self.entry == nil || !d.changed.Empty() || !d.removed.Empty() {
		self.stamp(w.Now)
	}
	if pruned { // nulls still count as values when owners are looked for
		merged = withoutNulls(merged).(schema.Tree)
	}
	return merged, a.all.encode(), nil
}

// applying is one apply.
type applying struct {
	writer Writer
	forms  Forms
	form   Form
	all    managers
}

// beforeFirst is who owns what was there before the first manager was known.
const beforeFirst = "before-first-apply"

// begin gives what a live object without managers has to somebody, so that an apply
// cannot take it away in silence.
func (a *applying) begin(live schema.Tree) {
	if live == nil || a.all.known(a.writer) {
		return
	}
	a.all = append(a.all, &manager{
		identity: identity{beforeFirst, opUpdate, a.writer.APIVersion, a.writer.Subresource},
		version:  a.writer.APIVersion, set: a.there(a.form.show(live)), time: a.writer.Now,
	})
}

// there is what the writer finds in an object.
func (a *applying) there(t schema.Tree) Set {
	if scale := a.writer.Scale; scale != nil {
		return scale.there(t)
	}
	c := comparison{skip: a.writer.skip(), fill: true}
	return c.compare(a.form.Message, schema.Tree{}, t).changed
}

// prune takes out of merged what the last apply of the writer had named and the new one does
// not, unless somebody else owns it.
func (a *applying) prune(merged schema.Tree, last Set, version string) schema.Tree {
	if last.Empty() {
		return merged
	}
	form, ok := a.forms(version)
	if !ok {
		return merged
	}
	whole := form.show(merged)
	pruned := withoutPaths(form.Message, whole, namedRoot(form.Message, last))
	if last.find(fieldStep("metadata")) != nil { // as any other message it goes as a whole, but for what is nobody's
		pruned["metadata"] = nobodysOf(whole)
	}
	pruned = a.addBackOwned(merged, form, pruned, version)
	// What was gone with its container and nobody had named stays.
	gone := Difference(a.named(form.Message, whole), a.named(form.Message, pruned))
	pruned = withoutPaths(form.Message, whole, Intersection(gone, namedRoot(form.Message, last)))
	if version != a.writer.APIVersion {
		pruned = converted(pruned)
	}
	return form.store(pruned)
}

// converted is a tree as it goes into another version: what has lost everything is not there.
func converted(t schema.Tree) schema.Tree { return withoutNulls(t).(schema.Tree) }

// nobodysOf are the fields of an object's metadata that nobody owns.
func nobodysOf(t schema.Tree) schema.Tree {
	out := schema.Tree{}
	for name, v := range rules.Sub(t, "metadata") {
		if nobodys[name] {
			out[name] = v
		}
	}
	return out
}

// named is the set of what an object has, with the fields that lead there.
func (a *applying) named(m *schema.Message, t schema.Tree) Set {
	return namedRoot(m, fields(m, t, skip{}))
}

// addBackOwned puts back into pruned, which is in the given form, what any manager owns.
func (a *applying) addBackOwned(merged schema.Tree, form Form, pruned schema.Tree, first string) schema.Tree {
	owned := map[string]Set{}
	for _, m := range a.all {
		owned[m.version] = Union(owned[m.version], m.owned())
	}
	pruned = addBack(form, merged, pruned, owned[first])
	for _, version := range slices.Sorted(maps.Keys(owned)) {
		other, ok := a.forms(version)
		if version == first || !ok {
			continue
		}
		shown := other.show(form.store(converted(pruned)))
		pruned = form.show(other.store(converted(addBack(other, merged, shown, owned[version]))))
	}
	return pruned
}

// addBack is merged, in a form, without what pruned lacks and nobody owns.
func addBack(form Form, merged, pruned schema.Tree, owned Set) schema.Tree {
	whole := form.show(merged)
	all := namedRoot(form.Message, fields(form.Message, whole, skip{}))
	left := namedRoot(form.Message, fields(form.Message, pruned, skip{}))
	gone := Difference(Difference(all, left), namedRoot(form.Message, owned))
	return withoutPaths(form.Message, whole, gone)
}
