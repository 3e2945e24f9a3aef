package mutation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// serverManager is the field manager of writes made by the server and its controllers.
const serverManager = "troupe"

func writer(m *request.Mutation, env Env) managedfields.Writer {
	w := managedfields.Writer{
		Manager: cmp.Or(m.FieldManager, serverManager), Subresource: m.Subresource, APIVersion: m.Kind.APIVersion(), Now: timestamp(env.Now),
	}
	sub := m.Kind.Subresource(m.Subresource)
	if sub == nil {
		w.KeepsStatus = m.Kind.Subresource("status") != nil
		return w
	}
	w.OnlyField, w.KeepsMetadata = sub.Field, sub.KeepsMetadata
	if sub.Scale != nil {
		w.Scale = &managedfields.Scale{Replicas: strings.Split(sub.Scale.Replicas, "."), APIVersion: sub.BodyKind.APIVersion()}
	}
	return w
}

// conversions convert objects between the versions of a mutation's storage kind.
type conversions struct {
	mutation *request.Mutation
	webhook  request.Conversions
	// withoutDefaults skips defaulting when a custom object is converted. Defaults are not part of
	// an applied configuration and must not become part of its atomic lists.
	withoutDefaults bool
	// err is the first webhook error. It invalidates everything computed with these conversions.
	err error
}

func (c *conversions) versions(apiVersion string) (managedfields.ServedVersion, bool) {
	own := c.mutation.Kind
	switch k := own.FindVersion(apiVersion); {
	case k == nil:
		return managedfields.ServedVersion{}, false
	case k != own && own.ConversionWebhook() != nil:
		return managedfields.ServedVersion{
			Message: k.Message(), Remote: true,
			FromStored: func(t tree.Tree) tree.Tree { return c.convert(own, k, t) },
			ToStored:   func(t tree.Tree) tree.Tree { return c.convert(k, own, t) },
		}, true
	case k.Stored == k:
		return managedfields.ServedVersion{Message: k.Message()}, true
	case c.withoutDefaults:
		return managedfields.ServedVersion{
			Message:    k.Message(),
			FromStored: func(t tree.Tree) tree.Tree { t, _ = k.Message().Custom.Prune(t); return t },
			ToStored:   withoutTypeMeta,
		}, true
	default:
		return managedfields.ServedVersion{
			Message:    k.Message(),
			FromStored: func(t tree.Tree) tree.Tree { return convert.FromStored(k, nil, t) },
			ToStored:   func(t tree.Tree) tree.Tree { return convert.ToStored(k, tree.Clone(t).(tree.Tree)) },
		}, true
	}
}

func withoutTypeMeta(t tree.Tree) tree.Tree {
	edit := tree.CopyOnWrite{From: t}
	for _, name := range []string{"apiVersion", "kind"} {
		if t.Has(name) {
			edit.Drop(name)
		}
	}
	return edit.Result()
}

func (c *conversions) convert(from, to *schema.Kind, t tree.Tree) tree.Tree {
	if c.err != nil || len(t) == 0 {
		return t
	}
	converted, err := c.webhook.Convert(from, to, t)
	if c.err = err; err != nil {
		return t
	}
	return converted
}

func managedFields(t tree.Tree) []any {
	return t.Object("metadata").List("managedFields")
}

func setManagedFields(t tree.Tree, list []any) {
	metadata := t.EnsureObject("metadata")
	if len(list) == 0 {
		delete(metadata, "managedFields")
		return
	}
	metadata["managedFields"] = list
}

// withoutTimeOnlyChange turns a candidate into a no-op if it changes only timestamps in
// managedFields, for example after an apply that omits defaulted fields of an atomic value.
func withoutTimeOnlyChange(cur State, c Candidate) Candidate {
	before := managedFields(cur.Tree)
	if c.Op == Put && !c.Created && !cur.Outdated && len(before) > 0 && codec.EqualIgnoringManagedFields(cur.Object.JSON, c.Encoded) &&
		slices.EqualFunc(before, managedFields(c.Tree), equalExceptTime) {
		return Candidate{Op: None, Tree: cur.Tree}
	}
	return c
}

func equalExceptTime(a, b any) bool {
	x, _ := a.(tree.Tree)
	y, _ := b.(tree.Tree)
	for _, name := range []string{"manager", "operation", "apiVersion", "subresource", "fieldsV1"} {
		if x.String(name) != y.String(name) {
			return false
		}
	}
	return true
}

// updateManagedFields makes the request's field manager the owner of the fields that differ between
// the current state and want. requested is the managedFields list of the body, which replaces the
// current list if it differs. A list with a single empty entry resets all ownership. If a
// conversion webhook fails, all ownership is dropped, so that the write still succeeds.
func updateManagedFields(cur State, m *request.Mutation, requested []any, want tree.Tree, env Env) {
	known, begin := managedFields(cur.Tree), false
	if keepsOwners(m) {
		setManagedFields(want, known)
		return
	}
	switch {
	case m.Subresource != "" || len(requested) == 0:
	case managedfields.IsReset(requested):
		known, begin = nil, cur.Object != nil
	case !tree.SemanticEqual(requested, known):
		if list, ok := managedfields.Normalize(requested); ok {
			known, begin = list, cur.Object != nil
		}
	}
	c := conversions{mutation: m, webhook: env.Conversions}
	owners := managedfields.Update(writer(m, env), c.versions, cur.Tree, want, known, begin)
	if c.err != nil {
		owners = nil
	}
	setManagedFields(want, owners)
}
