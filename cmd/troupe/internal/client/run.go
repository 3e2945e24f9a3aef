package client

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/kinds/tree"
)

func run(f *connectionFlags) *cobra.Command {
	o := &createOptions{}
	image, restart, labels := "", "Always", map[string]string{}
	var env []string
	var command bool
	port := int64(0)
	c := &cobra.Command{Use: "run NAME --image=IMAGE [-- ARG…]", Short: "Make a Pod of an image", Example: "  troupe run shell --image=busybox --restart=Never --command -- sleep 60"}
	o.add(c)
	c.Flags().StringVar(&image, "image", "", "Image of the container.")
	c.Flags().StringVar(&restart, "restart", restart, "When the container is started again: Always, OnFailure, Never.")
	c.Flags().StringToStringVarP(&labels, "labels", "l", nil, "Labels: key=value,…; else run=NAME.")
	c.Flags().StringArrayVar(&env, "env", nil, "Variable: NAME=VALUE; may be repeated.")
	c.Flags().Int64Var(&port, "port", 0, "Port of the container; 0 is none.")
	c.Flags().BoolVar(&command, "command", false, "What stands behind -- is the command, not its arguments.")
	c.RunE = f.run(func(s *session, args []string) error {
		if len(args) == 0 || image == "" {
			return usageError("NAME and --image are required for run")
		}
		container := tree.Tree{"name": args[0], "image": image}
		if len(args) > 1 {
			container[map[bool]string{true: "command", false: "args"}[command]] = tree.ListOf(args[1:])
		}
		for _, e := range env {
			name, value, ok := strings.Cut(e, "=")
			if !ok {
				return usageError("invalid env: " + e + "; it is NAME=VALUE")
			}
			container["env"] = append(container.List("env"), tree.Tree{"name": name, "value": value})
		}
		if port != 0 {
			container["ports"] = []any{tree.Tree{"containerPort": port}}
		}
		if len(labels) == 0 {
			labels = map[string]string{"run": args[0]}
		}
		set := tree.Tree{}
		for name, value := range labels {
			set[name] = value
		}
		catalog, err := s.served()
		if err != nil {
			return err
		}
		r, err := catalog.Own("", "pods")
		if err != nil {
			return err
		}
		made, err := s.post(o, r, s.Namespace, tree.Tree{
			"apiVersion": r.APIVersion(), "kind": r.Kind, "metadata": tree.Tree{"name": args[0], "labels": set},
			"spec": tree.Tree{"containers": []any{container}, "restartPolicy": restart},
		})
		if err != nil {
			return err
		}
		return s.printAs(o.print, object{resource: r, tree: made}, "created"+o.dryRun.suffix())
	})
	return c
}
