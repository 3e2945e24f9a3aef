package mutation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/ownership"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// itself is the manager of what the server writes on its own account.
const itself = "troupe"

// writer says who makes a mutation.
func writer(m *request.Mutation, env Env) ownership.Writer {
	w := ownership.Writer{
		Manager: cmp.Or(m.FieldManager, itself), Subresource: m.Subresource, APIVersion: m.Kind.APIVersion(), Now: timestamp(env.Now),
	}
	sub := m.Kind.Subresource(m.Subresource)
	if sub == nil {
		w.KeepsStatus = m.Kind.Subresource("status") != nil
		return w
	}
	w.Only, w.KeepsMetadata = sub.Field, sub.KeepsMetadata
	if sub.Scale != nil {
		w.Scale = &ownership.Scale{Replicas: strings.Split(sub.Scale.Replicas, "."), APIVersion: sub.Speaks.APIVersion()}
	}
	return w
}

// forms finds the versions that show the objects of k's storage.
func forms(k *schema.Kind) ownership.Forms {
	return func(apiVersion string) (ownership.Form, bool) {
		for _, form := range k.Stored.Forms {
			if form.APIVersion() == apiVersion {
				return formOf(form), true
			}
		}
		return ownership.Form{}, false
	}
}

func formOf(k *schema.Kind) ownership.Form {
	if k.Stored == k {
		return ownership.Form{Message: k.Message}
	}
	return ownership.Form{
		Message: k.Message,
		Show:    func(t schema.Tree) schema.Tree { return convert.Shown(k, nil, t) },
		Store:   func(t schema.Tree) schema.Tree { return convert.ToStored(k, rules.Clone(t).(schema.Tree)) },
	}
}

// managed are the managers that an object names.
func managed(t schema.Tree) []any { return rules.Items(rules.Sub(t, "metadata"), "managedFields") }

// setManaged replaces them.
func setManaged(t schema.Tree, list []any) {
	metadata := rules.Grow(t, "metadata")
	if len(list) == 0 {
		delete(metadata, "managedFields")
		return
	}
	metadata["managedFields"] = list
}

// unstamped is a candidate that changes nothing but the times of managers as no change at all:
// defaults may have filled what an apply left out of a value that is owned as a whole.
func unstamped(cur State, c Candidate) Candidate {
	before := managed(cur.Tree)
	if c.Op == Put && !c.Created && len(before) > 0 && slices.EqualFunc(before, managed(c.Tree), sameButTime) &&
		codec.SameButManagers(cur.Object.JSON, c.Encoded) {
		return Candidate{Op: None, Tree: cur.Tree}
	}
	return c
}

// sameButTime tells whether two managers differ in their time at most.
func sameButTime(a, b any) bool {
	x, _ := a.(schema.Tree)
	y, _ := b.(schema.Tree)
	for _, name := range []string{"manager", "operation", "apiVersion", "subresource", "fieldsV1"} {
		if rules.Text(x, name) != rules.Text(y, name) {
			return false
		}
	}
	return true
}

// own gives the writer what changes from the current state to want. asked is what the body says
// of managers: a list that differs replaces the one that is there, and the list of one
// empty entry makes everybody forget what they own.
func own(cur State, m *request.Mutation, asked []any, want schema.Tree, env Env) {
	known, begin := managed(cur.Tree), false
	switch {
	case m.Subresource != "":
	case ownership.Resets(asked):
		known, begin = nil, cur.Object != nil
	case len(asked) > 0 && !rules.Equal(asked, known):
		if list, ok := ownership.Normalize(asked); ok {
			known = list
		}
	}
	setManaged(want, ownership.Update(writer(m, env), forms(m.Kind), cur.Tree, want, known, begin))
}
