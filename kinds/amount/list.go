package amount

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A List contains one Amount per resource name. It is a slice, because lists are short.
type List []Named

// A Named is an Amount with its resource name.
type Named struct {
	Name   string
	Amount Amount
}

// ListOf parses a resource list, such as a container's requests.
func ListOf(t tree.Tree) List {
	all := make(List, 0, len(t))
	for name := range t {
		all = append(all, Named{name, Read(t.String(name))})
	}
	return all
}

const usualNames = 4

// OfContainers returns a Pod's effective amounts: the larger of the sum over containers and
// sidecars, and the peak during initialization. An init container runs alongside the sidecars
// listed before it. own returns the amounts of container c in list, "containers" or
// "initContainers".
func OfContainers(spec tree.Tree, own func(c tree.Tree, list string) List) List {
	var sidecars, initial List
	sum := make(List, 0, usualNames)
	for _, c := range spec.Objects("containers") {
		sum.Add(own(c, "containers"))
	}
	for _, c := range spec.Objects("initContainers") {
		its := own(c, "initContainers")
		if c.String("restartPolicy") == "Always" {
			sum.Add(its)
			sidecars.Add(its)
			initial.Raise(sidecars)
			continue
		}
		its.Add(sidecars)
		initial.Raise(its)
	}
	sum.Raise(initial)
	return sum
}

// Declared returns a function for OfContainers that reads a container's "requests" or "limits".
func Declared(of string) func(c tree.Tree, list string) List {
	return func(c tree.Tree, _ string) List { return ListOf(c.Object("resources", of)) }
}

func (l List) index(name string) int {
	return slices.IndexFunc(l, func(n Named) bool { return n.Name == name })
}

// Find returns the amount for a name, and whether the list contains the name.
func (l List) Find(name string) (Amount, bool) {
	if i := l.index(name); i >= 0 {
		return l[i].Amount, true
	}
	return Amount{}, false
}

// Get returns the amount for a name, or 0.
func (l List) Get(name string) Amount {
	a, _ := l.Find(name)
	return a
}

// Set sets the amount for a name.
func (l *List) Set(name string, value Amount) {
	if i := l.index(name); i >= 0 {
		(*l)[i].Amount = value
		return
	}
	*l = append(*l, Named{name, value})
}

// Add adds the amounts in others to l by name.
func (l *List) Add(others List) {
	for _, o := range others {
		l.Set(o.Name, l.Get(o.Name).Add(o.Amount))
	}
}

// Raise sets each amount to the maximum of both lists, for amounts that are not used at the same
// time, such as those of init containers.
func (l *List) Raise(others List) {
	for _, o := range others {
		if i := l.index(o.Name); i < 0 {
			*l = append(*l, o)
		} else {
			(*l)[i].Amount = (*l)[i].Amount.Max(o.Amount)
		}
	}
}

// Sorted returns the amounts sorted by name.
func (l List) Sorted() List {
	return slices.SortedFunc(slices.Values(l), func(x, y Named) int { return strings.Compare(x.Name, y.Name) })
}

// String formats amounts for messages: "a=1,b=2", sorted by name.
func (l List) String() string {
	parts := make([]string, len(l))
	for i, n := range l.Sorted() {
		parts[i] = n.Name + "=" + n.Amount.String()
	}
	return strings.Join(parts, ",")
}
