package api

import (
	"bytes"
	"maps"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The one difference that is to stay: who applies in another version than the last time cannot
// drop a list that the public types always write. Their conversion makes it there again, as
// null, and what is there is not taken away.

// changesVersion tells whether an applier has applied in another version than that of w before.
func (s *ownershipComparison) changesVersion(w ownershipEndpoint, manager string) bool {
	for _, v := range s.managed {
		entry := v.(tree.Tree)
		if entry["manager"] == manager && entry["operation"] == "Apply" && entry.String("subresource") == w.sub {
			return entry["apiVersion"] != w.kind.APIVersion()
		}
	}
	return false
}

// sameButKeptLists tells whether the oracle's object is ours, but for lists that are always written and
// that are there as they were before.
func (s *ownershipComparison) sameButKeptLists(before tree.Tree) bool {
	s.t.Helper()
	theirs, _ := s.tree(s.kind, s.expected.DeepCopyObject())
	delete(theirs["metadata"].(tree.Tree), "uid")
	ours := s.actual
	for _, k := range s.kind.Versions {
		ours = withLists(k.Message(), before, theirs, ours)
	}
	return bytes.Equal(codec.EncodeJSON(s.kind, ours).JSON, codec.EncodeJSON(s.kind, theirs).JSON)
}

// withLists is ours with the lists that are always written, and that it lacks, where theirs has
// them as before.
func withLists(m *schema.Message, before, theirs, ours tree.Tree) tree.Tree {
	out := maps.Clone(ours)
	for _, f := range m.Fields {
		x, _ := before[f.Name].(tree.Tree)
		y, _ := theirs[f.Name].(tree.Tree)
		z, there := ours[f.Name].(tree.Tree)
		switch {
		case f.EmitEmpty && f.Shape == schema.List && tree.IsEmpty(ours[f.Name]) && tree.SemanticEqual(before[f.Name], theirs[f.Name]):
			out.CopyField(theirs, f.Name)
		case there && f.Type == schema.TypeMessage && f.Shape == schema.Single:
			out[f.Name] = withLists(f.Message, x, y, z)
		}
	}
	return out
}
