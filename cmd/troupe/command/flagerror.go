package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// flagError extends the error for an unknown flag with the reason why the flag is unsupported, or
// with similar flags. The error for an unknown command takes precedence.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 {
		return noCommand(c, args)
	}
	name := unknown.GetSpecifiedName()
	for _, f := range daemon.UnsupportedFlags() {
		if f.Name == name {
			return fmt.Errorf("unsupported flag: --%s: %s", name, f.Reason)
		}
	}
	if similar := similarFlags(c.Flags(), name); len(similar) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, strings.Join(similar, " or "))
	}
	return fmt.Errorf("%w; %s --help lists the flags", err, c.CommandPath())
}

// similarFlags returns up to three similar flags. It presents the flags to cobra as commands,
// because cobra only suggests commands.
func similarFlags(flags *pflag.FlagSet, name string) []string {
	names := &cobra.Command{SuggestionsMinimumDistance: 3}
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	similar := names.SuggestionsFor(name)
	for i := range similar {
		similar[i] = "--" + similar[i]
	}
	return slices.Sorted(slices.Values(similar[:min(len(similar), 3)]))
}
