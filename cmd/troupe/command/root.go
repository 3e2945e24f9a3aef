package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client"
)

// Root returns the troupe command with all subcommands.
func Root() *cobra.Command { return root() }

// root returns the troupe command with its subcommands. For serve and version, it omits subcommands
// that would only slow down startup. Main prints errors, so cobra must not.
func root(args ...string) *cobra.Command {
	c := &cobra.Command{
		Use:   "troupe",
		Short: "A cluster API server in one binary",
		Long: `Troupe is a Kubernetes-compatible API server in a single binary, with a durable store.

  troupe serve
  troupe get namespaces
  troupe apply -f app.yaml

As a client, it works with any server of these conventions, given by a kubeconfig file:
--kubeconfig, KUBECONFIG, ~/.kube/config, or that of a server started in this directory.
Existing clients need the names of Kubernetes:

  troupe serve --naming kubernetes --data-dir cluster-data
  kubectl --kubeconfig cluster-data/admin.kubeconfig get namespaces

For shell completion, see troupe completion --help.`,
		Args:                       cobra.ArbitraryArgs,
		RunE:                       noCommand,
		SuggestionsMinimumDistance: 2,

		SilenceUsage:  true,
		SilenceErrors: true,
	}
	c.AddGroup(
		&cobra.Group{ID: "server", Title: "Server:"},
		&cobra.Group{ID: "client", Title: "Objects:"},
		&cobra.Group{ID: "cluster", Title: "Running workloads:"},
		&cobra.Group{ID: "access", Title: "Access and connection:"},
	)
	c.AddCommand(serve())
	if len(args) > 0 && args[0] == "serve" {
		return c
	}
	addCommands(c)
	if len(args) > 0 && args[0] == "version" {
		return c
	}
	client.AddTo(c)
	return c
}

func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	text := fmt.Sprintf("unknown command %q; troupe --help lists the commands", args[0])
	if alike := c.SuggestionsFor(args[0]); len(alike) > 0 {
		text = fmt.Sprintf("unknown command %q; did you mean %s?", args[0], strings.Join(alike, " or "))
	}
	return errors.New(text)
}
