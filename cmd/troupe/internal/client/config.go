package client

import (
	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/commands"
)

func (f *connectionFlags) completeEntries(list string) commands.Completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		view, err := f.rules().View()
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
