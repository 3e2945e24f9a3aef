package amount

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A List holds amounts by distinct names. It is a slice and not a map, because it has a handful of
// entries and is built for each Pod.
type List []Named

// A Named is an amount and its name.
type Named struct {
	Name   string
	Amount Amount
}

// ListOf reads an object of quantities, such as the requests of a container.
func ListOf(t tree.Tree) List {
	all := make(List, 0, len(t))
	for name := range t {
		all = append(all, Named{name, Read(t.String(name))})
	}
	return all
}

// usualNames is the number of resources of most Pods, with room for overhead.
const usualNames = 4

// OfContainers returns the total of all containers of a Pod: of those that run concurrently or, if
// that is more, of an init container with the sidecars before it. own returns the amounts of a
// container in a list; see Declared.
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

// Declared returns the function for OfContainers that reads requests or limits.
func Declared(of string) func(c tree.Tree, list string) List {
	return func(c tree.Tree, _ string) List { return ListOf(c.Object("resources", of)) }
}

func (l List) index(name string) int {
	return slices.IndexFunc(l, func(n Named) bool { return n.Name == name })
}

// Find returns the amount of a name and whether there is one.
func (l List) Find(name string) (Amount, bool) {
	if i := l.index(name); i >= 0 {
		return l[i].Amount, true
	}
	return Amount{}, false
}

// Get returns the amount of a name, or 0.
func (l List) Get(name string) Amount {
	a, _ := l.Find(name)
	return a
}

// Set sets the amount of a name.
func (l *List) Set(name string, value Amount) {
	if i := l.index(name); i >= 0 {
		(*l)[i].Amount = value
		return
	}
	*l = append(*l, Named{name, value})
}

// Add adds the amounts of others.
func (l *List) Add(others List) {
	for _, o := range others {
		l.Set(o.Name, l.Get(o.Name).Add(o.Amount))
	}
}

// Raise sets each amount to the larger of both. It serves resources not used at the same time, as
// by init containers.
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
