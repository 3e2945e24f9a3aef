package managedfields

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
)

// withoutLastApplied removes conflicts that would block a migration from client-side apply. The
// last-applied annotation records the fields that the client applied. An apply may take over a
// field that still has its recorded value. Any other value was set by another manager and must not
// be overwritten silently.
func (a *applier) withoutLastApplied(found map[*manager]Set, live, config tree.Tree) map[*manager]Set {
	unchanged := a.unchangedLastApplied(a.served.fromStored(live), config)
	left := map[*manager]Set{}
	for m, s := range found {
		if s = Difference(s, unchanged); !s.Empty() {
			left[m] = s
		}
	}
	return left
}

// unchangedLastApplied returns the fields whose live value equals the last-applied value. The set
// is empty if the annotation is missing, invalid, or for another version or kind.
func (a *applier) unchangedLastApplied(live, config tree.Tree) Set {
	m, text := a.served.Message, a.writer.LastApplied
	if text == "" {
		return Set{}
	}
	last, faults, err := codec.DecodeConfig(m, []byte(text))
	if err != nil || CheckConfig(m, last, codec.UnknownPaths(faults)) != "" || CheckConfig(m, live, nil) != "" ||
		last.String("apiVersion") != a.writer.APIVersion || last.String("kind") != config.String("kind") {
		return Set{}
	}
	last = withNulls(m, last)
	c := comparer{excluded: a.writer.excluded()}
	return Difference(fields(m, last, c.excluded), c.compare(m, live, last).changed)
}
