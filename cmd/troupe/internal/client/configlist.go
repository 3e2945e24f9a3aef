package client

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func configList(f *connectionFlags, list string) *cobra.Command {
	noHeaders, output := false, ""
	c := &cobra.Command{Use: "get-" + list, Short: "List the " + list}
	c.Flags().BoolVar(&noHeaders, "no-headers", false, "Leave out the headers.")
	c.Flags().StringVarP(&output, "output", "o", "", "name: only names.")
	c.RunE = local(func(c *cobra.Command, args []string) error {
		view, err := f.rulesOf().View()
		if err != nil {
			return err
		}
		current, _ := view["current-context"].(string)
		grid := &printer.Grid{}
		switch {
		case noHeaders || output == "name":
		case list == "contexts":
			grid.Row("CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE")
		default:
			grid.Row("NAME")
		}
		names := entryNames(view, list)
		slices.Sort(names)
		for _, wanted := range args {
			if !slices.Contains(names, wanted) {
				return fmt.Errorf("%s %q not found", list[:len(list)-1], wanted)
			}
		}
		for _, name := range names {
			if len(args) > 0 && !slices.Contains(args, name) {
				continue
			}
			if list != "contexts" || output == "name" {
				grid.Row(name)
				continue
			}
			mark := ""
			if name == current {
				mark = "*"
			}
			t, _ := tree.Of(kubeconfig.Entry(view, list, name)).(tree.Tree)
			pair := t.Object("context")
			grid.Row(mark, name, pair.String("cluster"), pair.String("user"), pair.String("namespace"))
		}
		return grid.Flush(c.OutOrStdout())
	})
	return c
}
