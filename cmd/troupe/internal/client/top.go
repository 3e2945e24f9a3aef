package client

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

type topOptions struct {
	targetFlags
	noHeaders, containers, sum bool
	sortBy                     string
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

func top(f *connectionFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "top", Short: "Show the CPU and memory usage of Pods or nodes", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(topPods(f), topNodes(f))
	return c
}

func topPods(f *connectionFlags) *cobra.Command {
	o := &topOptions{}
	c := &cobra.Command{
		Use: "pods [NAME…]", Aliases: []string{"pod", "po"}, Short: "Show the CPU and memory usage of Pods",
		Long: "Show the CPU and memory usage of Pods. It requires a server of the metrics API, such as metrics-server.",
	}
	o.add(c)
	c.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "List Pods of all namespaces.")
	c.Flags().BoolVar(&o.containers, "containers", false, "List the containers of each Pod.")
	c.Flags().BoolVar(&o.sum, "sum", false, "Print the sum.")
	c.RunE = f.run(func(s *session, args []string) error { return s.topPods(o, args) })
	return c
}

func topNodes(f *connectionFlags) *cobra.Command {
	o := &topOptions{}
	c := &cobra.Command{
		Use: "nodes [NAME…]", Aliases: []string{"node", "no"}, Short: "Show the CPU and memory usage of nodes",
		Long: "Show the CPU and memory usage of nodes, also as a share of what Pods can use there. It requires\na server of the metrics API, such as metrics-server.",
	}
	o.add(c)
	c.RunE = f.run(func(s *session, args []string) error { return s.topNodes(o, args) })
	return c
}

// add adds the flags of both commands.
func (o *topOptions) add(c *cobra.Command) {
	c.Flags().StringVarP(&o.selector, "selector", "l", "", "Label selector, such as app=web.")
	c.Flags().StringVar(&o.sortBy, "sort-by", "", "Sort by cpu or memory, the highest first.")
	c.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Do not print headers.")
	must(c.RegisterFlagCompletionFunc("sort-by", fixed("cpu", "memory")))
}

// metrics reads the metrics of the named objects of a resource, or of all.
func (s *session) metrics(o *topOptions, resource string, names []string) ([]object, error) {
	switch {
	case o.sortBy != "" && o.sortBy != "cpu" && o.sortBy != "memory":
		return nil, usageError("--sort-by accepts only cpu or memory")
	case o.selector != "" && len(names) > 0:
		return nil, usageError("only one of NAME or --selector can be provided")
	}
	c, err := s.served()
	if err != nil {
		return nil, err
	}
	r, err := c.Own("metrics", resource)
	if err != nil {
		return nil, &Error{Text: "error: Metrics API not available"}
	}
	return s.find(&o.targetFlags, []selection{{resource: r, namespace: s.namespaceOf(r, o.everywhere), names: names}})
}

func (s *session) topPods(o *topOptions, names []string) error {
	pods, err := s.metrics(o, "pods", names)
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
			if o.containers {
				all = append(all, one)
			}
		}
		if !o.containers {
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
		if o.everywhere {
			cells = append(cells, u.namespace)
		}
		cells = append(cells, u.name)
		if o.containers {
			cells = append(cells, u.container)
		}
		grid.Row(append(cells, figures...)...)
	}
	if !o.noHeaders {
		head := usage{namespace: "NAMESPACE", name: "NAME", container: "NAME"}
		if o.containers {
			head.name = "POD"
		}
		row(head, "CPU(cores)", "MEMORY(bytes)")
	}
	for _, u := range all {
		row(u, u.cells()...)
	}
	if o.sum {
		row(usage{}, "________", "________")
		row(usage{}, sum.cells()...)
	}
	return grid.Flush(s.out)
}

func (s *session) topNodes(o *topOptions, names []string) error {
	nodes, err := s.metrics(o, "nodes", names)
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
	if !o.noHeaders {
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
		switch o.sortBy {
		case "cpu":
			figure = cmp.Compare(b.cores, a.cores)
		case "memory":
			figure = cmp.Compare(b.bytes, a.bytes)
		}
		return cmp.Or(figure, strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name), strings.Compare(a.container, b.container))
	})
}
