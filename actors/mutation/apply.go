package mutation

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/ownership"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// prepareApply prepares to make an object what the configuration in the body says of it, or to create it.
func prepareApply(cur State, m *request.Mutation, env Env) (Prepared, error) {
	if cur.Object == nil {
		return prepareApplyCreate(m, env)
	}
	if err := checkPreconditions(cur, m, m.Object); err != nil {
		return Prepared{}, err
	}
	if cur.Tree == nil { // NeedsTree has found that the apply changes nothing
		return Prepared{step: stepNoOp, cur: cur, mutation: m}, nil
	}
	p := Prepared{cur: cur, mutation: m, env: env, step: stepUpdate, faults: new(schema.Faults)}
	config, err := appliedConfig(m, env, p.faults)
	if err != nil {
		return Prepared{}, err
	}
	merged, owners, err := ownership.Apply(writer(m, env), servedVersions(m.Kind), cur.Tree, config, managedFields(cur.Tree), m.Force)
	if err != nil {
		merged, owners, err = env.forceLastApplied(cur, m, config, err)
	}
	if err != nil {
		return Prepared{}, err
	}
	unchanged := !cur.Outdated && tree.SameRef(merged, cur.Tree) && sameList(owners, managedFields(cur.Tree))
	if unchanged && !m.Admits(request.Update) {
		return prepareNoOp(cur, m), nil
	}
	want := env.updateLastApplied(m, copyForWrite(cur, m, merged, env))
	if want, err = restrictApply(cur, m, want, env, p.faults); err != nil {
		return Prepared{}, err
	}
	carryMetadata(cur, m, want)
	setManagedFields(want, owners)
	p.want = want
	p.complete()
	return p, nil
}

// prepareApplyCreate prepares to create what does not exist from its configuration.
func prepareApplyCreate(m *request.Mutation, env Env) (Prepared, error) {
	if m.Subresource != "" {
		return Prepared{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	if err := checkApplyCreate(m); err != nil {
		return Prepared{}, err
	}
	object, owners, err := ownership.Apply(writer(m, env), servedVersions(m.Kind), nil, m.Object, nil, m.Force)
	if err != nil {
		return Prepared{}, err
	}
	object = tree.Clone(object).(tree.Tree)
	rules.Default(m.Kind.Stored, object)
	return prepareNewObject(m, object, owners, env), nil
}

// prepareNoOp is an apply that changes nothing: nothing is left to be done but to warn.
func prepareNoOp(cur State, m *request.Mutation) Prepared {
	p := Prepared{cur: cur, mutation: m, step: stepNoOp}
	if m.Subresource == "" {
		p.warnings = warn(m.Kind.Stored, cur.Tree, cur.Tree)
	}
	return p
}

// isNoOpApply tells whether an apply certainly changes nothing. It compares the configuration with the JSON
// of the object, which it does not decode; so the configuration must be of the stored version.
func isNoOpApply(o *meta.Object, m *request.Mutation) bool {
	return bodyKind(m) == m.Kind.Stored && ownership.IsNoOpApply(writer(m, Env{}), m.Kind.Message, o.JSON, m.Object)
}

// checkApplyCreate checks what a configuration says of the object that it is for, where there is none.
func checkApplyCreate(m *request.Mutation) error {
	metadata := childObject(m.Object, "metadata")
	if metadata.String("name") == "" {
		return meta.NewBadRequest("the name of the object (" + m.Key.Name + " based on URL) was undeterminable: name must be provided")
	}
	if uid := metadata.String("uid"); uid != "" {
		return meta.NewConflict(resource(m.Kind), m.Key.Name,
			"uid mismatch: the provided object specified uid "+uid+", and no existing object was found")
	}
	if version := metadata.String("resourceVersion"); version != "" && version != "0" {
		return meta.NewConflict(resource(m.Kind), m.Key.Name,
			"the provided object specified resourceVersion "+version+", and no existing object was found")
	}
	return nil
}

// appliedConfig is the configuration as a part of the object itself. That differs where the
// sub-resource has a body of another kind.
func appliedConfig(m *request.Mutation, env Env, faults *schema.Faults) (tree.Tree, error) {
	sub := m.Kind.Subresource(m.Subresource)
	if sub == nil || sub.BodyKind == nil {
		return m.Object, nil
	}
	if sub.View.Write == nil {
		return nil, meta.NewMethodNotAllowed()
	}
	config := tree.Tree{}
	if sub.Scale != nil && !m.Object.Object("spec").Has("replicas") {
		return config, nil // without the field it is not applied as 0
	}
	err := sub.View.Write(config, m.Object, timestamp(env.Now), faults)
	return config, err
}

// restrictApply limits what an apply has made to what its resource may change.
func restrictApply(cur State, m *request.Mutation, want tree.Tree, env Env, faults *schema.Faults) (tree.Tree, error) {
	if sub := m.Kind.Subresource(m.Subresource); sub != nil && sub.BodyKind != nil {
		if w := writer(m, env); w.Scale != nil && !w.Scale.Has(want) { // the manager has given the field up
			if err := sub.View.Write(want, tree.Tree{}, timestamp(env.Now), faults); err != nil {
				return nil, err
			}
		}
		rules.Default(m.Kind.Stored, want)
		return want, nil
	}
	return restrictUpdate(cur, m, want, timestamp(env.Now), faults)
}

// kubectl kept its configuration in an annotation before servers could apply. A server-side apply by it
// keeps the annotation up to date, and may take over the fields that the annotation says it has applied.
const kubectlManager = "kubectl"

func (e *Env) lastApplied(t tree.Tree) string {
	if e.LastApplied == "" {
		return ""
	}
	return t.Object("metadata", "annotations").String(e.LastApplied)
}

// forceLastApplied applies again, with force, if all fields in conflict are ones that the client itself had
// applied by its annotation.
func (e *Env) forceLastApplied(cur State, m *request.Mutation, config tree.Tree, conflict error) (tree.Tree, []any, error) {
	text := e.lastApplied(cur.Tree)
	var status *meta.Status
	if m.FieldManager != kubectlManager || text == "" || !errors.As(conflict, &status) || status.Details == nil {
		return nil, nil, conflict
	}
	last, _, err := codec.DecodeJSON(m.Kind.Message, []byte(text))
	if err != nil {
		return nil, nil, conflict
	}
	if !ownership.HasConflictFields(m.Kind.Message, last, status.Details.Causes) {
		return nil, nil, conflict
	}
	return ownership.Apply(writer(m, *e), servedVersions(m.Kind), cur.Tree, config, managedFields(cur.Tree), true)
}

// updateLastApplied writes the configuration into the annotation, if the object has one.
func (e *Env) updateLastApplied(m *request.Mutation, want tree.Tree) tree.Tree {
	if m.FieldManager == kubectlManager && e.lastApplied(want) != "" && m.Subresource == "" {
		want.EnsureObject("metadata", "annotations")[e.LastApplied] = string(codec.AppendAny(nil, m.Object)) + "\n"
	}
	return want
}
