package client

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

type topOptions struct {
	targetFlags
	NoHeaders, Containers, Sum bool
	SortBy                     string
}

// usage is the resource usage of a Pod, container or node.
type usage struct {
	namespace, name, container string
	cores, bytes               float64
}

func (u *usage) add(amounts tree.Tree) {
	u.cores += quantity.Float(amounts.String("cpu"))
	u.bytes += quantity.Float(amounts.String("memory"))
}

// cells formats the usage like kubectl: up to a thousandth of a core, down to a mebibyte.
func (u usage) cells() []string {
	return []string{fmt.Sprintf("%dm", int64(math.Ceil(1000*u.cores))), fmt.Sprintf("%dMi", int64(u.bytes/(1<<20)))}
}

type topPods struct{ topOptions }

type topNodes struct{ topOptions }

// metrics reads the metrics of the named objects of a resource, or of all.
func (s *session) metrics(o *topOptions, resource string, names []string) ([]object, error) {
	switch {
	case o.SortBy != "" && o.SortBy != "cpu" && o.SortBy != "memory":
		return nil, usageError("--sort-by accepts only cpu or memory")
	case o.Selector != "" && len(names) > 0:
		return nil, usageError("only one of NAME or --selector can be provided")
	}
	if _, err := s.served(); err != nil {
		return nil, err
	}
	r, err := s.own("metrics", resource)
	if err != nil {
		return nil, &Error{Text: "error: Metrics API not available"}
	}
	return s.find(&o.targetFlags, []selection{{resource: r, namespace: s.namespaceOf(r, o.AllNamespaces), names: names}})
}

func (o *topPods) run(s *session, names []string) error {
	pods, err := s.metrics(&o.topOptions, "pods", names)
	if err != nil {
		return err
	}
	var all []usage
	var sum usage
	for _, pod := range pods {
		whole := usage{namespace: pod.namespace(), name: pod.name()}
		for _, c := range pod.tree.Objects("containers") {
			one := usage{namespace: whole.namespace, name: whole.name, container: c.String("name")}
			one.add(c.Object("usage"))
			whole.add(c.Object("usage"))
			sum.add(c.Object("usage"))
			if o.Containers {
				all = append(all, one)
			}
		}
		if !o.Containers {
			all = append(all, whole)
		}
	}
	if len(all) == 0 {
		r, err := s.catalog.Own("metrics", "pods")
		if err != nil {
			return err
		}
		s.nothingFound(&getOptions{targetFlags: o.targetFlags}, []selection{{resource: r}})
		return nil
	}
	o.sort(all)
	grid := &printer.Grid{}
	row := func(u usage, figures ...string) {
		var cells []string
		if o.AllNamespaces {
			cells = append(cells, u.namespace)
		}
		cells = append(cells, u.name)
		if o.Containers {
			cells = append(cells, u.container)
		}
		grid.Row(append(cells, figures...)...)
	}
	if !o.NoHeaders {
		head := usage{namespace: "NAMESPACE", name: "NAME", container: "NAME"}
		if o.Containers {
			head.name = "POD"
		}
		row(head, "CPU(cores)", "MEMORY(bytes)")
	}
	for _, u := range all {
		row(u, u.cells()...)
	}
	if o.Sum {
		row(usage{}, "________", "________")
		row(usage{}, sum.cells()...)
	}
	return grid.Flush(s.out)
}

func (o *topNodes) run(s *session, names []string) error {
	nodes, err := s.metrics(&o.topOptions, "nodes", names)
	if err != nil {
		return err
	}
	r, err := s.catalog.Own("", "nodes")
	if err != nil {
		return err
	}
	objects, err := s.list(r, "", url.Values{})
	if err != nil {
		return err
	}
	allocatable := map[string]tree.Tree{}
	for _, one := range objects {
		allocatable[one.name()] = one.tree.Object("status").Object("allocatable")
	}
	var all []usage
	for _, node := range nodes {
		u := usage{name: node.name()}
		u.add(node.tree.Object("usage"))
		all = append(all, u)
	}
	if len(all) == 0 {
		s.notef("No resources found\n")
		return nil
	}
	o.sort(all)
	grid := &printer.Grid{}
	if !o.NoHeaders {
		grid.Row("NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)")
	}
	for _, u := range all {
		var total usage
		total.add(allocatable[u.name])
		figures := u.cells()
		grid.Row(u.name, figures[0], percent(u.cores, total.cores), figures[1], percent(u.bytes, total.bytes))
	}
	return grid.Flush(s.out)
}

// percent returns "<unknown>" if the total is unknown.
func percent(part, total float64) string {
	if total == 0 {
		return "<unknown>"
	}
	return fmt.Sprintf("%d%%", int64(100*part/total))
}

// sort sorts by the column of --sort-by, then by name.
func (o *topOptions) sort(all []usage) {
	slices.SortStableFunc(all, func(a, b usage) int {
		figure := 0
		switch o.SortBy {
		case "cpu":
			figure = cmp.Compare(b.cores, a.cores)
		case "memory":
			figure = cmp.Compare(b.bytes, a.bytes)
		}
		return cmp.Or(figure, strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name), strings.Compare(a.container, b.container))
	})
}
