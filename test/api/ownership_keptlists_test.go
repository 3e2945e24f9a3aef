package api

import (
	"bytes"
	"maps"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// In the oracle, an applier that changes its API version cannot remove a list that the Go types
// never omit. Conversion adds the list again as null, so the existing list stays.

// changesVersion reports whether the manager's last apply used a different version than w.
func (s *ownershipComparison) changesVersion(w ownershipEndpoint, manager string) bool {
	for _, v := range s.managed {
		entry := v.(tree.Tree)
		if entry["manager"] == manager && entry["operation"] == "Apply" && entry.String("subresource") == w.sub {
			return entry["apiVersion"] != w.kind.APIVersion()
		}
	}
	return false
}

// sameButKeptLists reports whether the oracle's object equals ours, except for lists that are never
// omitted and have not changed.
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

// withLists returns a copy of ours with the lists that only theirs contains. It adds a list only if
// the field is never omitted and has the same value in before and theirs.
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
