package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Clients may depend on the order of causes, so it must not depend on whether a check is a field
// option or a Go function. Causes from both are therefore merged in the declaration order of their
// fields.

// mergeCauses merges the causes from the plan and from the kind's functions. If both report the
// same error type for a path, the function's more specific message wins.
func mergeCauses(m *schema.Message, planned, own []meta.Cause) []meta.Cause {
	if len(planned) == 0 || len(own) == 0 {
		return append(planned, own...)
	}
	for _, c := range own {
		same := func(p meta.Cause) bool { return p.Type == c.Type && p.Field == c.Field }
		if i := slices.IndexFunc(planned, same); i >= 0 {
			planned = slices.Delete(planned, i, i+1)
		}
	}
	places := make(map[string][]int, len(planned)+len(own))
	place := func(c meta.Cause) []int {
		if _, known := places[c.Field]; !known {
			places[c.Field] = placeOf(m, c.Field)
		}
		return places[c.Field]
	}
	slices.SortStableFunc(planned, func(a, b meta.Cause) int { return slices.Compare(place(a), place(b)) })
	all := make([]meta.Cause, 0, len(planned)+len(own))
	for _, c := range own {
		for len(planned) > 0 && slices.Compare(place(planned[0]), place(c)) < 0 {
			all, planned = append(all, planned[0]), planned[1:]
		}
		all = append(all, c)
	}
	return append(all, planned...)
}

// placeOf returns a field's position in a message: for each step of the path, the field's index in
// declaration order, or the list index. For example, spec.ports[1].name may be 2, 0, 1, 3.
func placeOf(m *schema.Message, path string) []int {
	var place []int
	for path != "" {
		if rest, isItem := strings.CutPrefix(path, "["); isItem {
			item, after, _ := strings.Cut(rest, "]")
			n, _ := strconv.Atoi(item) // map keys all get 0
			place, path = append(place, n), strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		n, next := math.MaxInt, (*schema.Message)(nil) // undeclared fields come last
		if m != nil {
			if i := slices.IndexFunc(m.Fields, func(f *schema.Field) bool { return f.Name == path[:end] }); i >= 0 {
				n, next = i, m.Fields[i].Message
			}
		}
		place, m, path = append(place, n), next, strings.TrimPrefix(path[end:], ".")
	}
	return place
}
