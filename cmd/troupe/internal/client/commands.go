package client

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Help groups of the commands.
const (
	basicGroup   = "client"
	accessGroup  = "access"
	clusterGroup = "cluster"
)

// AddTo adds the client commands to the program. The connection flags are also added to the
// program, so that they may precede the name of the command.
func AddTo(root *cobra.Command) {
	f := &connectionFlags{}
	root.AddGroup(
		&cobra.Group{ID: basicGroup, Title: "Objects:"},
		&cobra.Group{ID: clusterGroup, Title: "Running workloads:"},
		&cobra.Group{ID: accessGroup, Title: "Access and connection:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		basicGroup: {
			get(f), describeCommand(f), apply(f), diff(f), create(f), deleteCommand(f), edit(f), patch(f), label(f), annotate(f),
			wait(f), explain(f), apiResources(f), apiVersions(f),
		},
		clusterGroup: {scale(f), top(f), logs(f), execCommand(f), attach(f), portForward(f)},
		accessGroup:  {auth(f), certificate(f), configCommand(f)},
	} {
		for _, c := range commands {
			c.GroupID = group
			prepare(f, c)
			root.AddCommand(c)
		}
	}
	f.add(root.Flags())
	root.Flags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	root.TraverseChildren = true
}

// prepare adds connection flags and error messages to a command and its subcommands.
func prepare(f *connectionFlags, c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		// Flags of an unknown subcommand are unknown as well, so report the subcommand first.
		if c.HasSubCommands() && c.Args != nil {
			if unknown := c.Args(c, c.Flags().Args()); unknown != nil {
				return unknown
			}
		}
		return &Error{Text: "error: " + err.Error() + "\nSee '" + c.CommandPath() + " --help' for usage."}
	})
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil {
				return nil
			}
			return &Error{Text: "error: " + err.Error() + "\nUsage: " + c.UseLine()}
		}
	}
	if c.HasSubCommands() {
		for _, below := range c.Commands() {
			prepare(f, below)
		}
	}
	if c.RunE != nil {
		connection := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
		f.add(connection)
		c.Flags().AddFlagSet(connection) // a command's own flags take precedence, such as --user of a binding
		for flag, complete := range map[string]completion{
			"namespace": f.completeNamesOf("namespaces"), "context": f.completeEntries("contexts"), "cluster": f.completeEntries("clusters"), "user": f.completeEntries("users"),
		} {
			must(c.RegisterFlagCompletionFunc(flag, complete))
		}
	}
}
