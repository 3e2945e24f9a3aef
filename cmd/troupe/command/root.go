package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client"
)

// root returns the command with all subcommands. Main prints errors, so cobra does not.
func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "troupe",
		Short: "A cluster API server in one binary",
		Long: `troupe keeps the state of a cluster as API objects and serves them over HTTPS,
durably and with nothing else to install.

  troupe serve
  troupe get namespaces
  troupe apply -f app.yaml

As a client it speaks to any server of these conventions, as a client configuration names
it: --kubeconfig, KUBECONFIG, ~/.kube/config, or that of a server that was started here.
Existing clients work with it, too, under the names that they expect:

  troupe serve --naming kubernetes --data-dir cluster-data
  kubectl --kubeconfig cluster-data/admin.kubeconfig get namespaces

Completion of shells, with the names of the server's objects: troupe completion --help.`,
		Args:                       cobra.ArbitraryArgs,
		RunE:                       noCommand,
		SuggestionsMinimumDistance: 2,

		SilenceUsage:  true,
		SilenceErrors: true,
	}
	const serverGroup = "server"
	c.AddGroup(&cobra.Group{ID: serverGroup, Title: "Run a server, and look after it:"})
	for _, one := range []*cobra.Command{serve(), status(), doctor(), backup(), restore(), compact(), migrate(), verify(), cluster(), envtestCommand()} {
		one.GroupID = serverGroup
		c.AddCommand(one)
	}
	client.AddTo(c)
	c.AddCommand(version())
	return c
}

// noCommand prints the help without arguments, and reports an unknown command otherwise.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	text := fmt.Sprintf("there is no command %q; troupe --help lists them", args[0])
	if alike := c.SuggestionsFor(args[0]); len(alike) > 0 {
		text = fmt.Sprintf("there is no command %q; did you mean %s?", args[0], strings.Join(alike, " or "))
	}
	return errors.New(text)
}

func version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		Run:   func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), "troupe", daemon.Version) },
	}
}
