package rbac

import (
	"fmt"
	"slices"
	"strings"
)

// breakDown splits a rule into rules with one verb, one resource or path, and at most one name. The
// user may hold each of these through a different role, so they are checked individually.
func (r rule) breakDown() []rule {
	var single []rule
	names := [][]string{nil}
	if len(r.names) > 0 {
		names = singletons(r.names)
	}
	for _, group := range singletons(r.groups) {
		for _, resource := range singletons(r.resources) {
			for _, verb := range singletons(r.verbs) {
				for _, name := range names {
					single = append(single, rule{verbs: verb, groups: group, resources: resource, names: name})
				}
			}
		}
	}
	for _, path := range singletons(r.paths) {
		for _, verb := range singletons(r.verbs) {
			single = append(single, rule{verbs: verb, paths: path})
		}
	}
	return single
}

// singletons returns a one-element slice per element of list. Each has capacity 1, so that an
// append cannot overwrite list.
func singletons(list []string) [][]string {
	each := make([][]string, len(list))
	for i := range list {
		each[i] = list[i : i+1 : i+1]
	}
	return each
}

// maxBreakdown limits the number of rules into which a role is broken down. Rules beyond the limit
// stay whole, so a single rule of the user must cover each of them.
const maxBreakdown = 10_000

// breakDownSize returns the number of rules that breakDown returns. Numbers above maxBreakdown are
// imprecise, to avoid overflow.
func (r rule) breakDownSize() int {
	size := func(list []string) int { return min(len(list), maxBreakdown+1) }
	return size(r.verbs) * (size(r.groups)*size(r.resources)*max(1, size(r.names)) + size(r.paths))
}

// uncovered breaks down the rules in wanted and returns those that held does not cover. To limit
// the cost, it leaves rules with too many combinations whole. It may thus return a covered rule,
// but never omits an uncovered one.
func uncovered(held, wanted []rule) []rule {
	var lacks []rule
	left := maxBreakdown
	for _, w := range wanted {
		if slices.ContainsFunc(held, func(h rule) bool { return h.covers(w) }) {
			continue
		}
		if w.breakDownSize() > left {
			lacks = append(lacks, w)
			continue
		}
		left -= w.breakDownSize()
		for _, single := range w.breakDown() {
			if !slices.ContainsFunc(held, func(h rule) bool { return h.covers(single) }) {
				lacks = append(lacks, single)
			}
		}
	}
	return lacks
}

// covers reports whether r alone allows everything that w allows. If r has names, w must have
// names, too, and all of them must be in r.
func (r rule) covers(w rule) bool {
	if !containsAll(r.verbs, w.verbs, wildcard) || !containsAll(r.groups, w.groups, wildcard) {
		return false
	}
	for _, resource := range w.resources {
		if !r.coversResource(resource) {
			return false
		}
	}
	for _, path := range w.paths {
		if !r.allowsPath(path) {
			return false
		}
	}
	return len(r.names) == 0 || len(w.names) > 0 && containsAll(r.names, w.names, "")
}

// coversResource compares resources as written in rules. It must use the same patterns as
// allowsResource: "*" and "*/sub". Otherwise, users could grant rights that they do not hold.
func (r rule) coversResource(resource string) bool {
	_, sub, ok := strings.Cut(resource, "/")
	for _, s := range r.resources {
		if s == wildcard || s == resource || ok && s == wildcard+"/"+sub {
			return true
		}
	}
	return false
}

// containsAll reports whether list contains all values, or the wildcard all. If all is empty, there
// is no wildcard.
func containsAll(list, values []string, all string) bool {
	if all != "" && slices.Contains(list, all) {
		return true
	}
	for _, v := range values {
		if !slices.Contains(list, v) {
			return false
		}
	}
	return true
}

// compactRules merges rules from breakDown that differ only in the verb, so that error messages are
// readable.
func compactRules(single []rule) []rule {
	var short []rule
	type about struct {
		group, resource string
		named           bool
		name            string
	}
	at := map[about]int{}
	for _, r := range single {
		if len(r.groups) != 1 || len(r.resources) != 1 || len(r.names) > 1 {
			short = append(short, r)
			continue
		}
		key := about{r.groups[0], r.resources[0], len(r.names) > 0, strings.Join(r.names, "")}
		i, known := at[key]
		if !known {
			at[key] = len(short)
			short = append(short, r)
		} else if verb := r.verbs[0]; !slices.Contains(short[i].verbs, verb) {
			short[i].verbs = append(short[i].verbs, verb)
		}
	}
	return short
}

// text formats the rule as kube-apiserver does: {APIGroups:[""], Resources:["pods"], Verbs:["get"
// "list"]}.
func (r rule) text() string {
	var parts []string
	for _, f := range []struct {
		name   string
		values []string
	}{{"APIGroups", r.groups}, {"Resources", r.resources}, {"NonResourceURLs", r.paths}, {"ResourceNames", r.names}, {"Verbs", r.verbs}} {
		if len(f.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", f.name, f.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func describeRules(single []rule) string {
	var lines []string
	for _, r := range compactRules(single) {
		lines = append(lines, r.text())
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}
