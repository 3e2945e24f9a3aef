package actors

import (
	"strconv"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// What cannot be read is deleted without being read. Its last state is then an object that has
// nothing but its name, so that the log and every watch can go on with it.

const quarantinedText = "what is stored under this name cannot be read and was set aside; only a delete works on it"

// mutateUnreadable answers a mutation of what was set aside: a delete removes it, nothing else can be done.
func (o *object) mutateUnreadable(m *mutateRequest, a *Unreadable) mutateReply {
	c, err := o.removalCandidate(m.mutation, a.Version)
	if err != nil {
		return mutateReply{err: err}
	}
	state := mutation.State{Object: &meta.Object{Key: m.mutation.Key, Version: a.Version, Meta: c.Head}}
	return o.proposeRemoval(m, state, c)
}

// mutateUndecodable is unread for an object that is served, but of which no tree can be made.
func (o *object) mutateUndecodable(m *mutateRequest, state mutation.State) mutateReply {
	c, err := o.removalCandidate(m.mutation, state.Object.Version)
	if err != nil {
		return mutateReply{err: err}
	}
	c.Encoded, c.Head = codec.WithoutVersion(state.Object.JSON), state.Object.Meta
	return o.proposeRemoval(m, state, c)
}

func (o *object) proposeRemoval(m *mutateRequest, state mutation.State, c mutation.Candidate) mutateReply {
	if m.mutation.DryRun {
		return mutateReply{result: dryRunResult(m.mutation, state, c)}
	}
	return mutateReply{proposal: o.propose(m, state, nil, c), accepted: true}
}

// nameOnlyTree is an object that has nothing but its name.
func nameOnlyTree(key meta.Key) tree.Tree {
	metadata := tree.Tree{"name": key.Name}
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	return tree.Tree{"metadata": metadata}
}

// nameOnlyObject is what is told of an object of which nothing is known but its name.
func nameOnlyObject(k *schema.Kind, key meta.Key, version uint64) *meta.Object {
	tree := nameOnlyTree(key)
	return &meta.Object{Key: key, Version: version, JSON: codec.EncodeJSON(k, tree).WithVersion(version), ItemOffset: k.ItemOffset, Meta: codec.ExtractMeta(k, tree)}
}

// removalCandidate is the removal of what cannot be read and has a version.
func (o *object) removalCandidate(m *request.Mutation, version uint64) (c mutation.Candidate, err error) {
	gr := resource(m.Kind)
	switch d := m.Delete; {
	case m.Verb == request.Create && m.Subresource == "":
		taken := meta.NewAlreadyExists(gr, m.Key.Name)
		taken.Message += ": " + quarantinedText
		return c, taken
	case m.Verb != request.Delete:
		return c, meta.NewStoreReadError(gr, m.Key.Name, quarantinedText)
	case d.UID != "" || d.ResourceVersion != "" && d.ResourceVersion != strconv.FormatUint(version, 10):
		return c, meta.NewConflict(gr, m.Key.Name, "the precondition cannot be checked: "+quarantinedText)
	}
	k, tree := o.activation.collection.kind(), nameOnlyTree(m.Key)
	if err := m.Admit(tree, nil); err != nil {
		return c, err
	}
	return mutation.Candidate{Op: mutation.Remove, Tree: tree, Encoded: codec.EncodeJSON(k, tree), Head: codec.ExtractMeta(k, tree), Allocation: mutation.NoAllocation}, nil
}
