package client

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func configCurrent(f *connectionFlags) *cobra.Command {
	return &cobra.Command{Use: "current-context", Short: "Print the current context", Args: cobra.NoArgs, RunE: local(func(c *cobra.Command, _ []string) error {
		view, err := f.rulesOf().View()
		if err != nil {
			return err
		}
		current, _ := view["current-context"].(string)
		if current == "" {
			return usageError("current-context is not set")
		}
		fmt.Fprintln(c.OutOrStdout(), current)
		return nil
	})}
}

func configUse(f *connectionFlags) *cobra.Command {
	return &cobra.Command{
		Use: "use-context NAME", Aliases: []string{"use"}, Short: "Set the current context", Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeEntries("contexts"),
		RunE: local(func(c *cobra.Command, args []string) error {
			rules := f.rulesOf()
			view, err := rules.View()
			if err != nil {
				return err
			}
			if kubeconfig.Entry(view, "contexts", args[0]) == nil {
				return fmt.Errorf("no context exists with the name: %q", args[0])
			}
			// The first file that sets the current context takes precedence.
			err = kubeconfig.Edit(rules.Target("contexts", ""), func(file map[string]any) error { file["current-context"] = args[0]; return nil })
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "Switched to context %q.\n", args[0])
			}
			return err
		}),
	}
}
