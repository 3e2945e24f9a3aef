package client

import (
	"net/url"

	"github.com/spf13/cobra"
)

func execCommand(f *connectionFlags) *cobra.Command {
	o := &containerFlags{}
	c := &cobra.Command{
		Use:               "exec POD | TYPE/NAME [-c CONTAINER] -- COMMAND [ARG…]",
		Short:             "Run a command in a container",
		Example:           "  troupe exec web -- ls /\n  troupe exec -it deployment/web -- sh",
		ValidArgsFunction: f.completeNamesOf("pods"),
	}
	o.add(c)
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		dash := c.ArgsLenAtDash()
		if len(args) == 0 || dash == 0 {
			return usageError("pod, type/name or --filename must be specified")
		}
		if dash != 1 || len(args) < 2 {
			return usageError("you must specify the command after --, such as: troupe exec web -- ls /")
		}
		return s.enter(o, args[0], "exec", url.Values{"command": args[1:]})
	})
	return c
}

func attach(f *connectionFlags) *cobra.Command {
	o := &containerFlags{}
	c := &cobra.Command{
		Use:               "attach POD | TYPE/NAME [-c CONTAINER]",
		Short:             "Attach to the main process of a container",
		Example:           "  troupe attach web\n  troupe attach -it deployment/shell",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.completeNamesOf("pods"),
	}
	o.add(c)
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error { return s.enter(o, args[0], "attach", url.Values{}) })
	return c
}
