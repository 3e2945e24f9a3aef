package mutation

import (
	"fmt"
	"strconv"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// update replaces an object by the body, or creates it where the kind allows that.
func update(cur State, m *request.Mutation, env Env) (Candidate, error) {
	if cur.Object != nil {
		return replace(cur, m, rules.Clone(m.Object).(schema.Tree), env)
	}
	if !m.Kind.CreateOnUpdate || m.Subresource != "" {
		return Candidate{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	return build(m, env)
}

// replace makes want, which it may change, the new state of an existing object.
func replace(cur State, m *request.Mutation, want schema.Tree, env Env) (Candidate, error) {
	if err := checkPreconditions(cur, m, want); err != nil {
		return Candidate{}, err
	}
	want = scope(cur, m, want)
	carryMetadata(cur, m, want)
	rules.Default(m.Kind, want)
	if m.Kind.Rules.Prepare != nil && m.Subresource == "" {
		m.Kind.Rules.Prepare(want, cur.Tree)
	}
	if m.Kind.Generation && specChanged(cur.Tree, want) {
		object(want, "metadata")["generation"] = cur.Object.Head.Generation + 1
	}
	causes := rules.Validate(m.Kind, want)
	if m.Subresource == "" {
		causes = append(causes, rules.ValidateUpdate(m.Kind, want, cur.Tree)...)
	}
	if len(causes) > 0 {
		return Candidate{}, meta.NewInvalid(kindName(m.Kind), m.Key.Name, causes)
	}
	return finish(cur, m, want), nil
}

// checkPreconditions holds the uid and the resourceVersion in want, if any, against
// the current state.
func checkPreconditions(cur State, m *request.Mutation, want schema.Tree) error {
	metadata := object(want, "metadata")
	if uid, _ := metadata["uid"].(string); uid != "" && uid != cur.Object.Head.UID && !validates(m) {
		return meta.NewConflict(resource(m.Kind), m.Key.Name, fmt.Sprintf(
			"Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, cur.Object.Head.UID))
	}
	version, _ := metadata["resourceVersion"].(string)
	if version == "" || version == "0" {
		return nil
	}
	if _, err := strconv.ParseUint(version, 10, 64); err != nil {
		return meta.NewInvalid(kindName(m.Kind), m.Key.Name, []meta.Cause{{
			Type: meta.CauseInvalid, Field: "metadata.resourceVersion",
			Message: fmt.Sprintf("Invalid value: %q: must be a version that the server has given out", version)}})
	}
	if !cur.Fresh || version != strconv.FormatUint(cur.Object.Version, 10) {
		return meta.NewConflict(resource(m.Kind), m.Key.Name,
			"the object has been modified; please apply your changes to the latest version and try again")
	}
	return nil
}

// validates says whether another uid is an invalid change instead of a conflict: a patch
// of the main resource asks for it by name, and its validation compares uids.
func validates(m *request.Mutation) bool {
	return m.Verb == request.Patch && m.Subresource == ""
}

// scope limits a write to what its sub-resource may change, and a write of the main
// resource to what no sub-resource owns.
func scope(cur State, m *request.Mutation, want schema.Tree) schema.Tree {
	switch m.Subresource {
	case "":
		if m.Kind.HasSubresource("status") {
			carry(want, cur.Tree, "status")
		}
		return want
	case "status":
		scoped := rules.Clone(cur.Tree).(schema.Tree)
		carry(scoped, want, "status")
		return scoped
	case "finalize":
		scoped := rules.Clone(cur.Tree).(schema.Tree)
		spec := object(scoped, "spec")
		carry(spec, object(want, "spec"), "finalizers")
		scoped["spec"] = spec
		return scoped
	}
	return want
}

// carryMetadata sets what clients may not change. A name, a namespace or a uid that
// differs is left for validation to report.
func carryMetadata(cur State, m *request.Mutation, want schema.Tree) {
	metadata, old := object(want, "metadata"), object(cur.Tree, "metadata")
	for _, name := range []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "generateName"} {
		carry(metadata, old, name)
	}
	for _, name := range []string{"uid", "name", "namespace"} {
		if _, set := metadata[name]; !set {
			carry(metadata, old, name)
		}
	}
	delete(metadata, "selfLink")
	delete(metadata, "resourceVersion")
	delete(metadata, "managedFields")
	want["metadata"] = metadata
}

// specChanged says whether anything differs that is the object's own: neither its kind,
// which a body may leave out, nor metadata or status.
func specChanged(old, want schema.Tree) bool {
	for name, value := range want {
		if own(name) && !rules.Equal(value, old[name]) {
			return true
		}
	}
	for name := range old {
		if _, ok := want[name]; !ok && own(name) {
			return true
		}
	}
	return false
}

func own(name string) bool {
	return name != "metadata" && name != "status" && name != "kind" && name != "apiVersion"
}
