package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// root is the command with all its subcommands.
//
// Usage and errors are not printed by cobra: main prints an error once, in one line, on standard error. The command
// that generates completions is switched off, since it would be listed between the others.
func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "troupe",
		Short: "A cluster API server in one binary",
		Long: `troupe keeps the state of a cluster as API objects and serves them over HTTPS,
durably and with nothing else to install.

Start it under the names that existing clients expect, and use it with any of them:

  troupe serve --naming kubernetes
  kubectl --kubeconfig troupe-data/admin.kubeconfig get namespaces

Without --naming it serves the same under neutral names; troupe serve --help shows how to
reach it then.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	c.CompletionOptions.DisableDefaultCmd = true
	c.AddCommand(serve(), status(), doctor(), backup(), restore(), verify(), cluster(), version())
	return c
}

func version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		Run:   func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), "troupe", daemon.Version) },
	}
}
