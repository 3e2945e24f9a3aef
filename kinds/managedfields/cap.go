package managedfields

import (
	"cmp"
	"slices"
	"strings"
)

// Beyond maxUpdaters, the oldest managers of each version share one entry, so that managers do not
// accumulate.
const (
	maxUpdaters    = 10
	ancientChanges = "ancient-changes"
)

// capUpdaters merges the oldest update managers into one entry per version until at most
// maxUpdaters remain. It keeps an old manager that is the only one of its version.
//
// With a limit of two and the managers a, b, c and d, oldest first, the result is ancient-changes
// (a, b and c) and d. Apply managers are kept, because their next apply needs their last set.
func (all managers) capUpdaters() managers {
	if len(all) <= maxUpdaters {
		return all
	}
	updaters := all.updaters()
	excess := len(updaters) - maxUpdaters
	gone := map[*manager]bool{}
	first, buckets := map[string]*manager{}, map[string]*manager{}
	joined := map[*manager][]Set{} // sets to merge into each bucket
	for _, m := range updaters {
		if m.name == ancientChanges && m.subresource == "" {
			buckets[m.version] = m
		}
	}
	for _, m := range updaters {
		if excess <= 0 {
			break
		}
		if first[m.version] == nil || m == buckets[m.version] {
			first[m.version] = m
			continue
		}
		bucket := buckets[m.version]
		if bucket == nil {
			bucket = first[m.version].asBucket()
			buckets[m.version] = bucket
			gone[first[m.version]] = true
			all = append(all, bucket)
		}
		joined[bucket] = append(joined[bucket], m.owned())
		bucket.setTime(m.time)
		gone[m] = true
		excess--
	}
	for bucket, sets := range joined {
		bucket.setFields(Union(bucket.owned(), unionAll(sets)))
	}
	return slices.DeleteFunc(all, func(m *manager) bool { return gone[m] })
}

func (all managers) updaters() managers {
	var updaters managers
	for _, m := range all {
		if m.operation == opUpdate && !m.ownsNothing() {
			updaters = append(updaters, m)
		}
	}
	slices.SortFunc(updaters, func(a, b *manager) int {
		return cmp.Or(strings.Compare(a.time, b.time), a.managerIdentity.compare(b.managerIdentity))
	})
	return updaters
}

func (m *manager) asBucket() *manager {
	return &manager{
		managerIdentity: managerIdentity{ancientChanges, opUpdate, m.version, ""},
		version:         m.version, set: m.owned(), time: m.time,
	}
}
