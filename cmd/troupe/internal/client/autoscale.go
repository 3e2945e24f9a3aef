package client

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/kinds/tree"
)

func autoscale(f *connectionFlags) *cobra.Command {
	o := &createOptions{}
	var least, most, percent int64
	name := ""
	c := &cobra.Command{
		Use: "autoscale TYPE NAME | TYPE/NAME --max=N", Short: "Make an autoscaler for a workload",
		Example: "  troupe autoscale deployment web --min=1 --max=5 --cpu-percent=80", ValidArgsFunction: f.completeObjects("get"),
	}
	o.add(c)
	c.Flags().Int64Var(&least, "min", -1, "Fewest replicas; negative leaves it to the server.")
	c.Flags().Int64Var(&most, "max", -1, "Most replicas.")
	c.Flags().Int64Var(&percent, "cpu-percent", -1, "CPU to use, of what is requested, in hundredths.")
	c.Flags().StringVar(&name, "name", "", "Name of the autoscaler; that of the workload if it is not given.")
	c.RunE = f.run(func(s *session, args []string) error {
		if most < 1 {
			return usageError("--max=MAXPODS is required and must be at least 1, max: " + fmt.Sprint(most))
		}
		return s.eachFound(o, args, "autoscaling", "horizontalpodautoscalers", "autoscaled", func(one object) (tree.Tree, error) {
			spec := tree.Tree{"maxReplicas": most, "scaleTargetRef": tree.Tree{"apiVersion": one.resource.APIVersion(), "kind": one.resource.Kind, "name": one.name()}}
			if least >= 0 {
				spec["minReplicas"] = least
			}
			if percent >= 0 {
				spec["metrics"] = []any{tree.Tree{"type": "Resource", "resource": tree.Tree{"name": "cpu", "target": tree.Tree{"type": "Utilization", "averageUtilization": percent}}}}
			}
			return tree.Tree{"metadata": tree.Tree{"name": cmp.Or(name, one.name())}, "spec": spec}, nil
		})
	})
	return c
}
