package client

import (
	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func configCommand(f *connectionFlags) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "List and select contexts of the kubeconfig file", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(configContexts(f), configCurrent(f), configUse(f))
	return c
}

func (f *connectionFlags) rulesOf() kubeconfig.Rules {
	r := f.rules
	r.Fallback = defaultKubeconfig
	return r
}

// local wraps a command that contacts no server.
func local(do func(c *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error { return asError(do(c, args)) }
}

// completeEntries completes names of a list in the kubeconfig.
func (f *connectionFlags) completeEntries(list string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		view, err := f.rulesOf().View()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return entryNames(view, list), cobra.ShellCompDirectiveNoFileComp
	}
}

func entryNames(view map[string]any, list string) (names []string) {
	entries, _ := view[list].([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		if name, ok := entry["name"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
