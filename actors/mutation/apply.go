package mutation

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// prepareApply prepares a server-side apply, which creates the object if it does not exist. It
// checks preconditions before it reads the configuration. It computes field ownership in the stored
// version before restrictApply reverts fields that the subresource may not change.
func prepareApply(cur State, m *request.Mutation, apply request.Apply, env Env) (Prepared, error) {
	if cur.Object == nil {
		return prepareApplyCreate(m, apply, env)
	}
	if apply.Misplaced == nil {
		if err := checkPreconditions(cur, m, apply.Config); err != nil {
			return Prepared{}, err
		}
	}
	if cur.Tree == nil { // NeedsTree has found that the apply is a no-op
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

func applyOwned(m *request.Mutation, env Env, live, config tree.Tree, force bool) (tree.Tree, []any, error) {
	c := conversions{mutation: m, webhook: env.Conversions, withoutDefaults: m.Kind.IsCustom()}
	w := writer(m, env)
	if m.FieldManager == kubectlManager && w.Scale == nil {
		w.LastApplied = env.lastApplied(live)
	}
	merged, owners, err := managedfields.Apply(w, c.versions, live, config, managedFields(live), force)
	if c.err != nil {
		return nil, nil, c.err
	}
	if err == nil && m.Kind.IsCustom() && !tree.SameRef(merged, live) {
		merged = completeApplied(m.Kind, merged)
	}
	return merged, owners, err
}

// completeApplied prunes the merged tree of a custom object and converts it to the stored version,
// with the defaults of both versions.
func completeApplied(k *schema.Kind, merged tree.Tree) tree.Tree {
	merged, _ = k.Message().Custom.Prune(merged)
	if k.Stored == k || k.ConversionWebhook() != nil {
		return merged
	}
	return convert.ToStored(k, tree.Clone(merged).(tree.Tree))
}

// prepareApplyCreate prepares the creation of an object by an apply. An apply to a subresource
// never creates the object.
func prepareApplyCreate(m *request.Mutation, apply request.Apply, env Env) (Prepared, error) {
	if m.Subresource != "" {
		return Prepared{}, m.NotFound()
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

// validateNulls reports null values in an applied configuration that the schema of a custom kind
// does not allow. Other writes drop such nulls, but an apply must store the configuration as
// written. Nulls in fields that the write cannot change are ignored.
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

// withoutAbsentNulls drops the "required" causes of fields whose null value is already reported in
// found.
func withoutAbsentNulls(causes, found []meta.Cause) []meta.Cause {
	return slices.DeleteFunc(causes, func(c meta.Cause) bool {
		return c.Type == meta.CauseRequired && slices.ContainsFunc(found, func(f meta.Cause) bool {
			return f.Type == meta.CauseTypeInvalid && f.Field == c.Field
		})
	})
}

func prepareNoOp(cur State, m *request.Mutation) Prepared {
	p := Prepared{cur: cur, mutation: m, step: stepNoOp}
	if m.Subresource == "" {
		warn(m, cur.Tree, cur.Tree)
	}
	return p
}

// isNoOpApply reports whether an apply is known to change nothing. It compares the configuration
// with the undecoded JSON of the object, which works only in the stored version.
func isNoOpApply(o *meta.Object, m *request.Mutation, apply request.Apply) bool {
	return bodyKind(m) == m.Kind.Stored && managedfields.IsNoOpApply(writer(m, Env{}), m.Kind.Message(), o.JSON, apply.Config)
}

// checkApplyCreate rejects a configuration with a uid or resourceVersion, which identify an
// existing object.
func checkApplyCreate(m *request.Mutation, apply request.Apply) error {
	metadata := childObject(apply.Config, "metadata")
	if uid := metadata.String("uid"); uid != "" {
		return m.Conflict("uid mismatch: the provided object specified uid " + uid + ", and no existing object was found")
	}
	if apply.Misplaced != nil {
		return apply.Misplaced
	}
	if metadata.String("name") == "" {
		return newNoName(m)
	}
	if version := metadata.String("resourceVersion"); version != "" && version != "0" {
		return m.Conflict("the provided object specified resourceVersion " + version + ", and no existing object was found")
	}
	return nil
}

// appliedConfig translates the configuration of a subresource with its own body kind, such as a
// Scale, into a configuration of the object.
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

func restrictApply(cur State, m *request.Mutation, want tree.Tree, env Env, faults *schema.Faults) (tree.Tree, error) {
	if sub := m.Kind.Subresource(m.Subresource); sub != nil && sub.BodyKind != nil {
		if w := writer(m, env); w.Scale != nil && !w.Scale.Has(want) { // the manager no longer owns the field
			if err := sub.View.Write(want, tree.Tree{}, timestamp(env.Now), faults); err != nil {
				return nil, err
			}
		}
		rules.Default(m.Kind.Stored, want)
		return want, nil
	}
	return restrictUpdate(cur, m, want, timestamp(env.Now), faults)
}

// kubectlManager is kubectl's field manager. Client-side apply stores its configuration in an
// annotation. A server-side apply by kubectl updates this annotation, and may take over the fields
// that the annotation lists.
const kubectlManager = "kubectl"

func (e *Env) lastApplied(t tree.Tree) string {
	if e.LastApplied == "" {
		return ""
	}
	return t.Annotations().String(e.LastApplied)
}

// updateLastApplied writes the configuration into an existing last-applied annotation, so that a
// later client-side apply does not revert this apply. Like kube-apiserver, it removes an annotation
// that would become too large.
func (e *Env) updateLastApplied(m *request.Mutation, config, want tree.Tree) tree.Tree {
	if m.FieldManager != kubectlManager || e.lastApplied(want) == "" || m.Subresource != "" {
		return want
	}
	if config.Annotations().Has(e.LastApplied) {
		config = tree.Clone(config).(tree.Tree)
		delete(config.Annotations(), e.LastApplied)
	}
	annotations := want.EnsureObject("metadata", "annotations")
	annotations[e.LastApplied] = string(codec.AppendAny(nil, config)) + "\n"
	if rules.AnnotationsSize(annotations) > rules.MaxAnnotationsSize {
		delete(annotations, e.LastApplied)
	}
	return want
}
