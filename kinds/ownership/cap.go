package ownership

import (
	"cmp"
	"slices"
	"strings"
)

// Managers that update accumulate over time. Beyond maxUpdaters, the oldest ones of each version share one
// entry.
const (
	maxUpdaters    = 10
	ancientChanges = "ancient-changes"
)

// capUpdaters joins the oldest updaters, of the object or of its sub-resources, until there are no
// more than maxUpdaters. The only old one of its version stays as it is.
//
// As an example, with a limit of two and the updaters a, b, c and d, oldest first, of one version, the
// entries afterwards are ancient-changes (a, b and c) and d. Which of the oldest wrote what is forgotten,
// but not that these fields are owned: an apply still conflicts over them. Managers that apply are never
// joined, because their next apply needs their own last set.
func (all managers) capUpdaters() managers {
	updaters := all.updaters()
	excess := len(updaters) - maxUpdaters
	gone := map[*manager]bool{}
	first, buckets := map[string]*manager{}, map[string]*manager{}
	joined := map[*manager][]Set{} // what comes into each bucket
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

// updaters are those who update, the oldest first.
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

// asBucket is the manager as the entry that older ones of its version are joined into.
func (m *manager) asBucket() *manager {
	return &manager{
		managerIdentity: managerIdentity{ancientChanges, opUpdate, m.version, ""},
		version:         m.version, set: m.owned(), time: m.time,
	}
}
