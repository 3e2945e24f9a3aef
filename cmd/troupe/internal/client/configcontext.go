package client

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func configCurrent(f *connectionFlags) *cobra.Command {
	return &cobra.Command{Use: "current-context", Short: "Show the name of the current context", Args: cobra.NoArgs, RunE: local(func(c *cobra.Command, _ []string) error {
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
		Use: "use-context NAME", Aliases: []string{"use"}, Short: "Make a context the current one", Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeEntries("contexts"),
		RunE: local(func(c *cobra.Command, args []string) error {
			rules := f.rulesOf()
			view, err := rules.View()
			if err != nil {
				return err
			}
			if kubeconfig.Entry(view, "contexts", args[0]) == nil {
				return fmt.Errorf("no context exists with the name: %q", args[0])
			}
			// The first file that names a context is the one that counts.
			err = kubeconfig.Edit(rules.Target("contexts", ""), func(file map[string]any) error { file["current-context"] = args[0]; return nil })
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "Switched to context %q.\n", args[0])
			}
			return err
		}),
	}
}

func setContext(f *connectionFlags) *cobra.Command {
	current := false
	c := &cobra.Command{
		Use: "set-context NAME | --current", Short: "Make or change a context", Args: cobra.MaximumNArgs(1), ValidArgsFunction: f.completeEntries("contexts"),
		Example: "  troupe config set-context --current --namespace=shop",
	}
	c.Flags().BoolVar(&current, "current", false, "Change the current context.")
	c.RunE = local(func(c *cobra.Command, args []string) error {
		rules := f.rulesOf()
		name := ""
		switch {
		case current == (len(args) == 1):
			return usageError("name a context, or give --current")
		case current:
			view, err := rules.View()
			if err != nil {
				return err
			}
			if name, _ = view["current-context"].(string); name == "" {
				return usageError("no current context is set")
			}
		default:
			name = args[0]
		}
		made, err := setEntry(rules, "contexts", name, func(inner map[string]any) { setGiven(c, inner, "cluster", "user", "namespace") })
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "Context %q %s.\n", name, map[bool]string{true: "created", false: "modified"}[made])
		return nil
	})
	return c
}

func renameContext(f *connectionFlags) *cobra.Command {
	return &cobra.Command{Use: "rename-context OLD NEW", Short: "Give a context another name", Args: cobra.ExactArgs(2), ValidArgsFunction: f.completeEntries("contexts"), RunE: local(func(c *cobra.Command, args []string) error {
		err := kubeconfig.Edit(f.rulesOf().Target("contexts", args[0]), func(file map[string]any) error {
			entry := kubeconfig.Entry(file, "contexts", args[0])
			switch {
			case entry == nil:
				return fmt.Errorf("cannot rename the context %q, it's not in the client configuration", args[0])
			case kubeconfig.Entry(file, "contexts", args[1]) != nil:
				return fmt.Errorf("cannot rename the context %q, the context %q already exists", args[0], args[1])
			}
			if entry["name"] = args[1]; file["current-context"] == args[0] {
				file["current-context"] = args[1]
			}
			return nil
		})
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "Context %q renamed to %q.\n", args[0], args[1])
		}
		return err
	})}
}
