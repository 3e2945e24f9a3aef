package actors

import (
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
)

// addCompanions adds a change's companions to its proposal. Companions are objects in another
// collection that are created or deleted in the same commit, such as a Service's IPAddress. The
// allocator returns them (request.Companion).
//
// Another actor may be changing a companion concurrently. The companion is therefore computed from
// the published version, which becomes a precondition of the commit.

func (o *object) addCompanions(m *mutateRequest, p *proposal) error {
	for _, c := range p.candidate.Reserved.Companions {
		if err := o.addCompanion(m, p, c); err != nil {
			p.releaseCompanions()
			return err
		}
	}
	return nil
}

// addCompanion computes one companion. Deleting a missing companion has no effect.
func (o *object) addCompanion(m *mutateRequest, p *proposal, c request.Companion) error {
	collection := o.store().allCollections()[c.Key.GroupResource]
	if collection == nil {
		return nil // its group is not served
	}
	current := collection.published.Load().get(path(c.Key.Namespace, c.Key.Name))
	p.write.Conditions = append(p.write.Conditions, persist.Condition{Key: c.Key.String(), Revision: persist.Revision(versionOf(current))})
	if c.Object == nil && current == nil {
		return nil
	}
	if c.Object != nil && current != nil { // the deletion of its former holder is not published yet
		return &conflictError{seen: current.Version}
	}
	part := &proposal{collection: collection, kind: collection.kind(), key: c.Key, whole: p}
	if err := o.computeCompanion(m, part, c, mutation.State{Object: current, Committed: true}); err != nil {
		return err
	}
	if part.candidate.Op != mutation.None { // otherwise it is already being deleted
		p.companions = append(p.companions, part)
	}
	return nil
}

func (o *object) computeCompanion(m *mutateRequest, part *proposal, c request.Companion, state mutation.State) error {
	change := request.Mutation{Kind: part.kind, Key: c.Key, Change: request.Create{Object: c.Object}, FieldManager: o.store().naming.Translate("platform-apiserver")}
	if c.Object == nil {
		change.Change = request.Delete{}
	} else {
		state = mutation.State{}
	}
	if state.Object != nil && mutation.NeedsTree(state.Object, &change) {
		tree, err := codec.DecodeStored(part.kind.Message(), state.Object.JSON)
		if err != nil {
			return err
		}
		state.Tree = tree
	}
	candidate, err := mutation.Apply(state, &change, o.store().mutationEnv(m.ctx))
	if err != nil || candidate.Op == mutation.None {
		return err
	}
	part.candidate = candidate
	if c.Reserve != nil {
		part.candidate.Reserved = c.Reserve(candidate.Op != mutation.Remove)
	}
	part.write = writeOf(part, state)
	part.write.FreesSpace = part.whole.write.FreesSpace
	return nil
}

func (p *proposal) releaseCompanions() {
	for _, part := range p.companions {
		part.candidate.Reserved.Release()
	}
}
