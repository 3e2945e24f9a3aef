package mutation

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/ownership"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// prepareApply prepares to make an object what the configuration in the body says of it, or to create it.
// The order matters: preconditions come before the configuration is looked at, and ownership is computed on
// the stored form, before restrictApply takes back what the sub-resource may not change.
func prepareApply(cur State, m *request.Mutation, apply request.Apply, env Env) (Prepared, error) {
	if cur.Object == nil {
		return prepareApplyCreate(m, apply, env)
	}
	if apply.Misplaced == nil {
		if err := checkPreconditions(cur, m, apply.Config); err != nil {
			return Prepared{}, err
		}
	}
	if cur.Tree == nil { // NeedsTree has found that the apply changes nothing
		return Prepared{step: stepNoOp, cur: cur, mutation: m}, nil
	}
	p := Prepared{cur: cur, mutation: m, env: env, step: stepUpdate, faults: new(schema.Faults)}
	config, err := appliedConfig(m, apply.Config, env, p.faults)
	if err != nil {
		return Prepared{}, err
	}
	merged, owners, err := applyOwned(m, env, cur.Tree, config, apply.Force)
	if err == nil {
		err = apply.Misplaced
	}
	if err != nil {
		return Prepared{}, err
	}
	validateNulls(m, apply.Config, p.faults)
	unchanged := !cur.Outdated && tree.SameRef(merged, cur.Tree) && sameList(owners, managedFields(cur.Tree))
	if unchanged && !m.AdmitsNoOp() {
		return prepareNoOp(cur, m), nil
	}
	want := env.updateLastApplied(m, apply.Config, copyForWrite(cur, m, merged, env))
	if want, err = restrictApply(cur, m, want, env, p.faults); err != nil {
		return Prepared{}, err
	}
	carryMetadata(cur, m, want)
	setManagedFields(want, owners)
	p.want = want
	p.complete()
	return p, nil
}

// applyOwned is ownership.Apply of a configuration to a live object; nil if there is none.
func applyOwned(m *request.Mutation, env Env, live, config tree.Tree, force bool) (tree.Tree, []any, error) {
	versions, fault := appliedVersions(m, env)
	w := writer(m, env)
	if m.FieldManager == kubectlManager && w.Scale == nil {
		w.LastApplied = env.lastApplied(live)
	}
	merged, owners, err := ownership.Apply(w, versions, live, config, managedFields(live), force)
	if fault() != nil {
		return nil, nil, fault()
	}
	if err == nil && m.Kind.IsCustom() && !tree.SameRef(merged, live) {
		merged = completeApplied(m.Kind, merged)
	}
	return merged, owners, err
}

// completeApplied is what has come of an apply to an object of a custom kind, without what the schema does not know, and with
// the defaults of the version that was applied.
func completeApplied(k *schema.Kind, merged tree.Tree) tree.Tree {
	merged, _ = k.Message().Custom.Prune(merged)
	if k.Stored == k || k.ConversionWebhook() != nil {
		return merged
	}
	return convert.ToStored(k, tree.Clone(merged).(tree.Tree))
}

// prepareApplyCreate prepares to create what does not exist from its configuration. An apply through a
// sub-resource cannot create.
func prepareApplyCreate(m *request.Mutation, apply request.Apply, env Env) (Prepared, error) {
	if m.Subresource != "" {
		return Prepared{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	if err := checkApplyCreate(m, apply); err != nil {
		return Prepared{}, err
	}
	object, owners, err := applyOwned(m, env, nil, apply.Config, apply.Force)
	if err != nil {
		return Prepared{}, err
	}
	object = tree.Clone(object).(tree.Tree)
	rules.Default(m.Kind.Stored, object)
	p := prepareNewObject(m, object, owners, env)
	p.faults = new(schema.Faults)
	validateNulls(m, apply.Config, p.faults)
	return p, nil
}

// validateNulls reports the nulls of a configuration that are no values of a custom kind. In a body they would be
// dropped; what is applied is to be as it says. What the write does not reach is not looked at.
func validateNulls(m *request.Mutation, config tree.Tree, faults *schema.Faults) {
	if bodyKind(m).Message().Custom == nil {
		return
	}
	if m.Kind.IsCustom() && m.Kind.Subresource("status") != nil {
		config = maps.Clone(config)
		maps.DeleteFunc(config, func(name string, _ any) bool { return (name == "status") != (m.Subresource == "status") })
	}
	rules.ValidateNulls(m.Kind.Message().Values, config, faults)
}

// withoutAbsentNulls are causes without those that miss the value of a field whose null, which was dropped since, is a fault already.
func withoutAbsentNulls(causes, found []meta.Cause) []meta.Cause {
	return slices.DeleteFunc(causes, func(c meta.Cause) bool {
		return c.Type == meta.CauseRequired && slices.ContainsFunc(found, func(f meta.Cause) bool {
			return f.Type == meta.CauseTypeInvalid && f.Field == c.Field
		})
	})
}

// prepareNoOp is an apply that changes nothing: nothing is left to be done but to warn.
func prepareNoOp(cur State, m *request.Mutation) Prepared {
	p := Prepared{cur: cur, mutation: m, step: stepNoOp}
	if m.Subresource == "" {
		warn(m, cur.Tree, cur.Tree)
	}
	return p
}

// isNoOpApply tells whether an apply certainly changes nothing. It compares the configuration with the JSON
// of the object, which it does not decode; so the configuration must be of the stored version. It may say
// no where nothing would change, never the other way round.
func isNoOpApply(o *meta.Object, m *request.Mutation, apply request.Apply) bool {
	return bodyKind(m) == m.Kind.Stored && ownership.IsNoOpApply(writer(m, Env{}), m.Kind.Message(), o.JSON, apply.Config)
}

// checkApplyCreate checks what a configuration says of the object that it is for, where there is none. Each
// of them says that the client believes in an object that does not exist.
func checkApplyCreate(m *request.Mutation, apply request.Apply) error {
	metadata := childObject(apply.Config, "metadata")
	if uid := metadata.String("uid"); uid != "" {
		return meta.NewConflict(resource(m.Kind), m.Key.Name,
			"uid mismatch: the provided object specified uid "+uid+", and no existing object was found")
	}
	if apply.Misplaced != nil {
		return apply.Misplaced
	}
	if metadata.String("name") == "" {
		return newNoName(m)
	}
	if version := metadata.String("resourceVersion"); version != "" && version != "0" {
		return meta.NewConflict(resource(m.Kind), m.Key.Name,
			"the provided object specified resourceVersion "+version+", and no existing object was found")
	}
	return nil
}

// appliedConfig is the configuration as a part of the object itself. That differs where the
// sub-resource has a body of another kind.
func appliedConfig(m *request.Mutation, sent tree.Tree, env Env, faults *schema.Faults) (tree.Tree, error) {
	sub := m.Kind.Subresource(m.Subresource)
	if sub == nil || sub.BodyKind == nil {
		return sent, nil
	}
	if sub.View.Write == nil {
		return nil, meta.NewMethodNotAllowed()
	}
	config := tree.Tree{}
	if sub.Scale != nil && !sent.Object("spec").Has("replicas") {
		return config, nil // without the field it is not applied as 0
	}
	err := sub.View.Write(config, sent, timestamp(env.Now), faults)
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

// lastApplied is the annotation of an object; "" if it has none, or none is kept.
func (e *Env) lastApplied(t tree.Tree) string {
	if e.LastApplied == "" {
		return ""
	}
	return t.Object("metadata", "annotations").String(e.LastApplied)
}

// updateLastApplied writes the configuration into the annotation, if the object has one. Clients that still
// compute patches from the annotation would otherwise undo the apply. An annotation that would be too
// large is removed, as by kube-apiserver.
func (e *Env) updateLastApplied(m *request.Mutation, config, want tree.Tree) tree.Tree {
	if m.FieldManager != kubectlManager || e.lastApplied(want) == "" || m.Subresource != "" {
		return want
	}
	if config.Object("metadata", "annotations").Has(e.LastApplied) {
		config = tree.Clone(config).(tree.Tree)
		delete(config.Object("metadata", "annotations"), e.LastApplied)
	}
	annotations := want.EnsureObject("metadata", "annotations")
	annotations[e.LastApplied] = string(codec.AppendAny(nil, config)) + "\n"
	if rules.AnnotationsSize(annotations) > rules.MaxAnnotationsSize {
		delete(annotations, e.LastApplied)
	}
	return want
}
