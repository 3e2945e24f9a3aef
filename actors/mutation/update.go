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

// update replaces an object by the body, or creates it where the kind allows that.
func update(cur State, m *request.Mutation, env Env) (Candidate, error) {
	if cur.Object != nil {
		return replace(cur, m, copyBody(m, env), env)
	}
	if !m.Kind.CreateOnUpdate || m.Subresource != "" {
		return Candidate{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	return newObject(m, env)
}

// replace makes want, which it may change, the new state of an existing object. want is
// in the form of the kind, or of the sub-resource, that m speaks.
func replace(cur State, m *request.Mutation, want tree.Tree, env Env) (Candidate, error) {
	if err := checkPreconditions(cur, m, want); err != nil {
		return Candidate{}, err
	}
	if namespace, _ := childObject(want, "metadata")["namespace"].(string); namespace != "" && namespace != m.Key.Namespace && m.Subresource == "" {
		return Candidate{}, meta.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	var faults schema.Faults
	asked := managedFields(want)
	want, err := restrictUpdate(cur, m, want, timestamp(env.Now), &faults)
	if err != nil {
		return Candidate{}, err
	}
	carryMetadata(cur, m, want)
	if env.Allocator == nil && m.Admission == nil {
		reuseUnchanged(cur, want)
	}
	updateManagedFields(cur, m, asked, want, env)
	return completeUpdate(cur, m, want, &faults, env)
}

// completeUpdate completes, checks and encodes the new state of an existing object, in stored form.
// It changes want.
func completeUpdate(cur State, m *request.Mutation, want tree.Tree, faults *schema.Faults, env Env) (Candidate, error) {
	stored := m.Kind.Stored
	if stored.Rules.Prepare != nil && m.Subresource == "" {
		stored.Rules.Prepare(want, cur.Tree)
	}
	if err := m.Admit(cur.Tree, want); err != nil {
		return Candidate{}, err
	}
	if stored.Generation && !keepsGeneration(m) && specChanged(stored, cur.Tree, want) {
		childObject(want, "metadata")["generation"] = cur.Object.Meta.Generation + 1
	}
	allocation, causes := env.allocate(m.Key, cur.Tree, want)
	pending := &pendingAllocation{allocation}
	defer pending.release()
	reuseUnchanged(cur, want)
	causes = slices.Concat(faults.List, rules.ValidateChange(stored, want, cur.Tree), causes)
	if m.Subresource == "" {
		causes = append(causes, rules.ValidateUpdate(stored, want, cur.Tree)...)
	} else {
		causes = append(causes, rules.ValidateMetadataUpdate(want, cur.Tree)...)
	}
	if m.Subresource == "" || stored.ChecksSubresourceWrites {
		causes = append(causes, rules.ValidateServed(m.Kind, want, cur.Tree)...)
	}
	causes, err := env.evaluate(m, want, cur.Tree, causes)
	if err != nil {
		return Candidate{}, err
	}
	if len(causes) > 0 {
		return Candidate{}, meta.NewInvalid(kindName(bodyKind(m)), m.Key.Name, causes)
	}
	c, err := encodeCandidate(cur, m, want, env)
	if err != nil {
		return Candidate{}, err
	}
	c = withoutTimeOnlyChange(cur, c)
	if m.Subresource == "" {
		c.Warnings = warn(stored, want, cur.Tree)
	}
	if c.Op == None {
		return c, nil
	}
	c.Allocation = pending.transfer()
	return c, nil
}

// keepsGeneration says that m writes a sub-resource which is not what the object should be.
func keepsGeneration(m *request.Mutation) bool {
	sub := m.Kind.Subresource(m.Subresource)
	return sub != nil && sub.View.KeepsGeneration
}

// checkPreconditions holds the uid and the resourceVersion in want, if any, against
// the current state.
func checkPreconditions(cur State, m *request.Mutation, want tree.Tree) error {
	metadata := childObject(want, "metadata")
	if uid, _ := metadata["uid"].(string); uid != "" && uid != cur.Object.Meta.UID && !uidCheckedByValidation(m) {
		return meta.NewConflict(resource(m.Kind), m.Key.Name, fmt.Sprintf(
			"Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, cur.Object.Meta.UID))
	}
	version, _ := metadata["resourceVersion"].(string)
	if version == "" || version == "0" {
		if m.Kind.ConditionalUpdate && m.Verb == request.Update {
			return meta.NewInvalid(meta.GroupKind{Group: m.Kind.Group, Kind: m.Kind.Resource}, m.Key.Name, []meta.Cause{{
				Type: meta.CauseInvalid, Field: "metadata.resourceVersion", Message: "Invalid value: 0: must be specified for an update"}})
		}
		return nil
	}
	if _, err := strconv.ParseUint(version, 10, 64); err != nil {
		return meta.NewInvalid(kindName(m.Kind), m.Key.Name, []meta.Cause{{
			Type: meta.CauseInvalid, Field: "metadata.resourceVersion",
			Message: fmt.Sprintf("Invalid value: %q: must be a version that the server has given out", version)}})
	}
	if !cur.Committed || version != strconv.FormatUint(cur.Object.Version, 10) {
		return meta.NewConflict(resource(m.Kind), m.Key.Name,
			"the object has been modified; please apply your changes to the latest version and try again")
	}
	return nil
}

// uidCheckedByValidation says whether another uid is an invalid change instead of a conflict: a patch
// of the main resource asks for it by name, and its validation compares uids.
func uidCheckedByValidation(m *request.Mutation) bool {
	return m.Verb == request.Patch && m.Subresource == ""
}

// restrictUpdate is the wanted object in its stored form, with defaults: a write of a sub-resource is
// limited to what that may change, and a write of the main resource to what no
// sub-resource owns.
func restrictUpdate(cur State, m *request.Mutation, want tree.Tree, now string, faults *schema.Faults) (tree.Tree, error) {
	stored := m.Kind.Stored
	if m.Subresource == "" {
		want = convert.ToStored(m.Kind, want)
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

// subresourceMetadata is the metadata that a write of a sub-resource leaves: what it wants, but for what
// it keeps, and for what tells the object from others.
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

// carryMetadata sets what clients may not change. A name, a namespace or a uid that
// differs is left for validation to report.
func carryMetadata(cur State, m *request.Mutation, want tree.Tree) {
	metadata, old := childObject(want, "metadata"), childObject(cur.Tree, "metadata")
	for _, name := range []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "generateName"} {
		metadata.CopyField(old, name)
	}
	for _, name := range []string{"uid", "name", "namespace"} {
		if _, set := metadata[name]; !set {
			metadata.CopyField(old, name)
		}
	}
	delete(metadata, "selfLink")
	delete(metadata, "resourceVersion")
	delete(metadata, "managedFields")
	want["metadata"] = metadata
}

// specChanged says whether anything differs that is the object's own: neither its kind,
// which a body may leave out, nor metadata or status.
func specChanged(k *schema.Kind, old, want tree.Tree) bool {
	same := tree.SemanticEqual
	if k.ExplicitEmpty { // where an empty value is one
		same = tree.StrictEqual
	}
	for name, value := range want {
		if isSpec(k, name) && !same(value, old[name]) {
			return true
		}
	}
	for name := range old {
		if _, ok := want[name]; !ok && isSpec(k, name) {
			return true
		}
	}
	return false
}

func isSpec(k *schema.Kind, name string) bool {
	switch name {
	case "metadata", "kind", "apiVersion":
		return false
	case "status":
		return k.StatusIsolated && k.Subresource("status") == nil
	}
	return true
}
