package mutation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func prepareUpdate(cur State, m *request.Mutation, env Env) (Prepared, error) {
	if cur.Object != nil {
		return prepareReplacement(cur, m, copyBody(m, env, request.OnUpdate), env)
	}
	if !m.Kind.Writes.CreateOnUpdate || m.Subresource != "" {
		return Prepared{}, m.NotFound()
	}
	if uid, _ := childObject(m.Body(), "metadata")["uid"].(string); uid != "" {
		return Prepared{}, uidConflict(m, uid, "")
	}
	return prepareNew(m, env), nil
}

// prepareReplacement prepares want, an object in the requested version or the body of a
// subresource, as the new state of an existing object. It may modify want.
func prepareReplacement(cur State, m *request.Mutation, want tree.Tree, env Env) (Prepared, error) {
	if err := checkPreconditions(cur, m, want); err != nil {
		return Prepared{}, err
	}
	if namespace, _ := childObject(want, "metadata")["namespace"].(string); namespace != "" && m.Kind.Namespaced && namespace != m.Key.Namespace {
		return Prepared{}, errNamespace()
	}
	p := Prepared{cur: cur, mutation: m, env: env, step: stepUpdate, faults: new(schema.Faults)}
	requested := managedFields(want)
	want, err := restrictUpdate(cur, m, want, timestamp(env.Now), p.faults)
	if err != nil {
		return Prepared{}, err
	}
	carryMetadata(cur, m, want)
	if env.Allocator == nil {
		reuseUnchanged(cur, want)
	}
	updateManagedFields(cur, m, requested, want, env)
	p.want = want
	p.complete()
	return p, nil
}

func (p *Prepared) finishUpdate() (Candidate, error) {
	cur, m, want, stored := p.cur, p.mutation, p.want, p.mutation.Kind.Stored
	if stored.Writes.Generation && !keepsGeneration(m) && (specChanged(stored, cur.Tree, convert.Keep(m.Kind, want)) || countedMetadataChanged(m, cur.Tree, want)) {
		childObject(want, "metadata")["generation"] = cur.Object.Meta.Generation + 1
	}
	pending, causes := p.env.allocate(m.Key, cur.Tree, want)
	defer func() { pending.Release() }()
	reuseUnchanged(cur, want)
	causes, err := p.validateUpdate(causes)
	if err == nil {
		causes, err = p.env.evaluate(m, want, cur.Tree, causes)
	}
	if err != nil {
		return Candidate{}, err
	}
	if len(causes) > 0 {
		k := m.Kind
		if len(p.faults.List) > 0 {
			k = bodyKind(m)
		}
		return Candidate{}, meta.NewInvalid(kindName(k), m.Key.Name, causes)
	}
	if err := p.validate(); err != nil {
		return Candidate{}, err
	}
	c, err := p.env.encodeCandidate(cur, m, want)
	if err != nil {
		return Candidate{}, err
	}
	c = withoutTimeOnlyChange(cur, c)
	warn(m, want, cur.Tree)
	if c.Op != None {
		c.Reserved, pending = pending, nil
	}
	return c, nil
}

// validateUpdate returns all causes that make the new state invalid, including those found by
// preparation and allocation.
func (p *Prepared) validateUpdate(allocation []meta.Cause) ([]meta.Cause, error) {
	m, old, stored := p.mutation, p.cur.Tree, p.mutation.Kind.Stored
	causes, err := rules.ValidateChange(p.env.Context, stored, p.want, old)
	if err != nil {
		return nil, err
	}
	causes = append(causes, allocation...)
	if m.Subresource == "" {
		causes = append(causes, rules.ValidateUpdate(stored, p.want, old)...)
	} else {
		causes = append(causes, rules.ValidateMetadataUpdate(p.want, old)...)
	}
	if m.Subresource == "" || stored.IsCustom() {
		served, err := rules.ValidateServed(p.env.Context, m.Kind, p.want, old)
		if err != nil {
			return nil, err
		}
		causes = append(causes, served...)
	}
	if len(p.faults.List) == 0 {
		return causes, nil
	}
	return withoutAbsentNulls(append(causes, p.faults.List...), p.faults.List), nil
}

func keepsGeneration(m *request.Mutation) bool {
	sub := m.Kind.Subresource(m.Subresource)
	return sub != nil && sub.View.KeepsGeneration
}

func keepsOwners(m *request.Mutation) bool {
	sub := m.Kind.Subresource(m.Subresource)
	return m.KeepsOwners || sub != nil && sub.View.KeepsOwners
}

func checkPreconditions(cur State, m *request.Mutation, want tree.Tree) error {
	metadata := childObject(want, "metadata")
	if uid, _ := metadata["uid"].(string); uid != "" && uid != cur.Object.Meta.UID && !uidCheckedByValidation(m) {
		return uidConflict(m, uid, cur.Object.Meta.UID)
	}
	version, _ := metadata["resourceVersion"].(string)
	return checkVersion(cur, m, version, request.Is[request.Update](m))
}

// checkVersion checks the resourceVersion of a write against the current state. An empty version is
// an error if required is set and the kind does not allow unconditional updates.
func checkVersion(cur State, m *request.Mutation, version string, required bool) error {
	if version == "" || version == "0" {
		if m.Kind.Writes.ConditionalUpdate && required && m.Subresource != "scale" {
			return meta.NewInvalid(meta.GroupKind{Group: m.Kind.Group, Kind: m.Kind.Resource}, m.Key.Name, []meta.Cause{{
				Type: meta.CauseInvalid, Field: "metadata.resourceVersion", Message: "Invalid value: 0: must be specified for an update"}})
		}
		return nil
	}
	if _, err := strconv.ParseUint(version, 10, 64); err != nil {
		return meta.NewInvalid(kindName(m.Kind), m.Key.Name, []meta.Cause{{
			Type: meta.CauseInvalid, Field: "metadata.resourceVersion",
			Message: fmt.Sprintf("Invalid value: %q: must be a version that the server has assigned", version)}})
	}
	if !cur.Committed || version != strconv.FormatUint(cur.Object.Version, 10) {
		return m.Conflict("the object has been modified; please apply your changes to the latest version and try again")
	}
	return nil
}

func uidConflict(m *request.Mutation, requested, current string) error {
	return m.Conflict(fmt.Sprintf(
		"Precondition failed: UID in precondition: %s, UID in object meta: %s", requested, current))
}

// uidCheckedByValidation reports whether a wrong uid is a validation error (422) instead of a
// conflict (409). As in kube-apiserver, this applies to patches of the main resource.
func uidCheckedByValidation(m *request.Mutation) bool {
	return isPatch(m) && m.Subresource == ""
}

func isPatch(m *request.Mutation) bool {
	return request.Is[request.Patch](m) || request.Is[request.Apply](m)
}

// restrictUpdate returns the desired object in stored form, with defaults. A write to a subresource
// changes only the fields of the subresource. A write to the main resource keeps the status.
func restrictUpdate(cur State, m *request.Mutation, want tree.Tree, now string, faults *schema.Faults) (tree.Tree, error) {
	stored := m.Kind.Stored
	if m.Subresource == "" {
		if m.Kind != stored || !hasDefaults(cur, want) {
			want = convert.ToStored(m.Kind, want)
		}
		if m.Kind.Subresource("status") != nil {
			want.CopyField(cur.Tree, "status")
		}
		return want, nil
	}
	sub := m.Kind.Subresource(m.Subresource)
	if sub == nil || sub.View.Write == nil {
		return nil, meta.NewMethodNotAllowed()
	}
	if sub.BodyKind == nil && stored != m.Kind {
		want = convert.ToStored(m.Kind, want)
	}
	scoped := tree.Clone(cur.Tree).(tree.Tree)
	if err := sub.View.Write(scoped, want, now, faults); err != nil {
		return nil, err
	}
	if sub.BodyKind == nil {
		scoped["metadata"] = subresourceMetadata(childObject(scoped, "metadata"), childObject(want, "metadata"), sub.KeepsMetadata)
	}
	rules.Default(stored, scoped)
	return scoped, nil
}

// hasDefaults reports whether want already has all its defaults. This is known if want differs from
// the current object only in metadata other than labels, on which no default depends.
func hasDefaults(cur State, want tree.Tree) bool {
	if cur.Outdated || len(want) != len(cur.Tree) {
		return false
	}
	for name, value := range want {
		was, there := cur.Tree[name]
		if !there || name != "metadata" && !tree.SameRef(value, was) {
			return false
		}
	}
	return tree.StrictEqual(childObject(want, "metadata")["labels"], childObject(cur.Tree, "metadata")["labels"])
}

func subresourceMetadata(old, want tree.Tree, keeps []string) tree.Tree {
	if slices.Contains(keeps, schema.EveryField) {
		want = old
	}
	out := maps.Clone(want)
	for _, name := range slices.Concat(keeps, []string{"name", "namespace", "uid"}) {
		out.CopyField(old, name)
	}
	return out
}

// carryMetadata copies metadata that clients may not change from the current object. A different
// name, namespace or uid is kept, so that validation can reject it.
func carryMetadata(cur State, m *request.Mutation, want tree.Tree) {
	metadata, old := childObject(want, "metadata"), childObject(cur.Tree, "metadata")
	for _, name := range []string{"creationTimestamp", "generation"} {
		metadata.CopyField(old, name)
	}
	if old.Has("deletionTimestamp") {
		metadata.CopyField(old, "deletionTimestamp")
	}
	for _, name := range []string{"uid", "name", "namespace", "deletionGracePeriodSeconds"} {
		if !metadata.Has(name) || metadata[name] == "" {
			metadata.CopyField(old, name)
		}
	}
	if !m.Kind.Namespaced {
		delete(metadata, "namespace") // as for a new object
	}
	delete(metadata, "selfLink")
	delete(metadata, "resourceVersion")
	delete(metadata, "managedFields")
	want["metadata"] = metadata
}

// specChanged reports whether the change increments the generation. Changes to metadata, status,
// apiVersion and kind do not.
func specChanged(k *schema.Kind, old, want tree.Tree) bool {
	m := k.Message()
	same := func(name string) bool {
		if f := m.Field(name); f != nil && !k.IsCustom() {
			return f.Same(want[name], old[name])
		}
		return tree.StrictEqual(want[name], old[name])
	}
	for name := range want {
		if isSpec(k, name) && !same(name) {
			return true
		}
	}
	for name := range old {
		if _, compared := want[name]; !compared && isSpec(k, name) && !same(name) {
			return true
		}
	}
	return false
}

func countedMetadataChanged(m *request.Mutation, old, want tree.Tree) bool {
	counted := m.Kind.Stored.Strategy.CountedMetadata()
	return counted != "" && m.Subresource == "" && !tree.SemanticEqual(want.Object("metadata", counted), old.Object("metadata", counted))
}

func isSpec(k *schema.Kind, name string) bool {
	switch name {
	case "metadata", "kind", "apiVersion":
		return false
	case "status":
		return k.IsCustom() && k.Subresource("status") == nil
	}
	return true
}
