package client

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/kinds/tree"
)

func expose(f *connectionFlags) *cobra.Command {
	o := &createOptions{}
	name, kind, protocol, to := "", "", "TCP", ""
	port := int64(0)
	c := &cobra.Command{
		Use: "expose TYPE NAME | TYPE/NAME --port=N", Short: "Make a service for Pods of a workload", Example: "  troupe expose deployment web --port=80 --target-port=8080",
		ValidArgsFunction: f.completeObjects("get"),
	}
	o.add(c)
	c.Flags().StringVar(&name, "name", "", "Name of the service; that of the workload if it is not given.")
	c.Flags().StringVar(&kind, "type", "", "ClusterIP, NodePort or LoadBalancer.")
	c.Flags().StringVar(&protocol, "protocol", protocol, "TCP, UDP or SCTP.")
	c.Flags().StringVar(&to, "target-port", "", "Port of the Pods, a number or a name; else the same.")
	c.Flags().Int64Var(&port, "port", 0, "Port of the service; else the first of the containers.")
	c.RunE = f.run(func(s *session, args []string) error {
		return s.eachFound(o, args, "", "services", "exposed", func(one object) (tree.Tree, error) {
			selector, err := exposedSelector(one)
			if err != nil {
				return nil, err
			}
			entry := tree.Tree{"protocol": protocol, "port": port}
			if port == 0 {
				n, ok := firstPort(one.tree)
				if !ok {
					return nil, errors.New("couldn't find port via --port flag or introspection")
				}
				entry["port"] = n
			}
			if n, err := strconv.ParseInt(to, 10, 32); err == nil {
				entry["targetPort"] = n
			} else if to != "" {
				entry["targetPort"] = to
			}
			spec := tree.Tree{"selector": selector, "ports": []any{entry}}
			if kind != "" {
				spec["type"] = kind
			}
			m := tree.Tree{"name": cmp.Or(name, one.name())}
			if labels := one.tree.Object("metadata", "labels"); len(labels) > 0 {
				m["labels"] = labels
			}
			return tree.Tree{"metadata": m, "spec": spec}, nil
		})
	})
	return c
}

// exposedSelector are the labels by which a service finds the Pods of an object: those that it selects itself, or those of a Pod.
func exposedSelector(one object) (tree.Tree, error) {
	selector := one.tree.Object("spec", "selector")
	if labels := selector.Object("matchLabels"); labels != nil {
		selector = labels
	}
	if len(selector) == 0 && one.tree.Object("spec").Has("containers") {
		selector = one.tree.Object("metadata", "labels")
	}
	if len(selector) == 0 {
		return nil, fmt.Errorf("%s has no selector of Pods, so no service can be made for it", one)
	}
	return selector, nil
}

// firstPort is the first port that a container of an object names.
func firstPort(t tree.Tree) (int64, bool) {
	spec := t.Object("spec")
	if template := spec.Object("template", "spec"); template != nil {
		spec = template
	}
	for _, c := range spec.Objects("containers") {
		for _, p := range c.Objects("ports") {
			if n, ok := p.Int("containerPort"); ok {
				return n, true
			}
		}
	}
	for _, p := range spec.Objects("ports") {
		if n, ok := p.Int("port"); ok {
			return n, true
		}
	}
	return 0, false
}
