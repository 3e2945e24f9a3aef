package actors

import (
	"strconv"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// What cannot be read is deleted without being read. Its last state is then an object that has
// nothing but its name, so that the log and every watch can go on with it.

const setAsideText = "what is stored under this name cannot be read and was set aside; only a delete works on it"

// unread answers a mutation of what was set aside: a delete removes it, nothing else can be done.
func (o *object) unread(m *ask, a *Unreadable) answer {
	c, err := o.cleared(m.mutation, a.Version)
	if err != nil {
		return answer{err: err}
	}
	state := mutation.State{Object: &meta.Object{Key: m.mutation.Key, Version: a.Version, Head: c.Head}}
	return o.clear(m, state, c)
}

// undecoded is unread for an object that is served, but of which no tree can be made.
func (o *object) undecoded(m *ask, state mutation.State) answer {
	c, err := o.cleared(m.mutation, state.Object.Version)
	if err != nil {
		return answer{err: err}
	}
	c.Encoded, c.Head = codec.WithoutVersion(state.Object.JSON), state.Object.Head
	return o.clear(m, state, c)
}

func (o *object) clear(m *ask, state mutation.State, c mutation.Candidate) answer {
	if m.mutation.DryRun {
		return answer{result: preview(m.mutation, state, c)}
	}
	return answer{flight: o.launch(m, state, nil, c), own: true}
}

// bare is an object that has nothing but its name.
func bare(key meta.Key) schema.Tree {
	metadata := schema.Tree{"name": key.Name}
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	return schema.Tree{"metadata": metadata}
}

// bareObject is what is told of an object of which nothing is known but its name.
func bareObject(k *schema.Kind, key meta.Key, version uint64) *meta.Object {
	tree := bare(key)
	return &meta.Object{Key: key, Version: version, JSON: codec.EncodeJSON(k, tree).WithVersion(version), Item: k.Item, Head: codec.Head(k, tree)}
}

// cleared is the removal of what cannot be read and has a version.
func (o *object) cleared(m *request.Mutation, version uint64) (c mutation.Candidate, err error) {
	gr := resource(m.Kind)
	switch d := m.Delete; {
	case m.Verb == request.Create && m.Subresource == "":
		taken := meta.NewAlreadyExists(gr, m.Key.Name)
		taken.Message += ": " + setAsideText
		return c, taken
	case m.Verb != request.Delete:
		return c, meta.NewStoreRead(gr, m.Key.Name, setAsideText)
	case d.UID != "" || d.ResourceVersion != "" && d.ResourceVersion != strconv.FormatUint(version, 10):
		return c, meta.NewConflict(gr, m.Key.Name, "the precondition cannot be checked: "+setAsideText)
	}
	k, tree := o.resident.collection.kind(), bare(m.Key)
	if err := m.Admit(tree, nil); err != nil {
		return c, err
	}
	return mutation.Candidate{Op: mutation.Remove, Tree: tree, Encoded: codec.EncodeJSON(k, tree), Head: codec.Head(k, tree), Claim: mutation.NoClaim}, nil
}
