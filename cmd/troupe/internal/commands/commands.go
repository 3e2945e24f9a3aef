// Package commands creates commands from declarations. It is separate from package flags, so that
// importers of the daemon do not depend on cobra.
package commands

import (
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/flags"
)

// A Declaration describes a command.
type Declaration struct {
	Group, Use, Short, Long, Example string
	Args                             string // see positional; without it the command checks them itself
	Aliases                          []string
	Flags                            Flags
}

// Flags holds the declarations of command-line flags, keyed by flag name.
type Flags map[string]struct {
	Short, Help string
	Bare        string // the flag's value if none is given
	Default     string
	Repeat      bool     // items may contain commas, so the flag is repeated for each item
	Values      []string // for completion
	Complete    string   // what completes the value
}

// A Completion completes an argument or a flag's value.
type Completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

var positional = map[string]cobra.PositionalArgs{
	"none": cobra.NoArgs, "1": cobra.ExactArgs(1), "0-1": cobra.MaximumNArgs(1), "0-2": cobra.MaximumNArgs(2), "2+": cobra.MinimumNArgs(2),
}

// New returns the declared command without its flags. It prints its help unless the caller sets
// another RunE function.
func (d Declaration) New() *cobra.Command {
	return &cobra.Command{
		GroupID: d.Group, Use: d.Use, Short: d.Short, Long: d.Long, Example: d.Example, Aliases: d.Aliases, Args: positional[d.Args],
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
}

// Bind adds the flags to a command. It binds each flag to the first struct that has a field with
// its name. complete returns the completion function for a flag's Complete attribute.
func (f Flags) Bind(c *cobra.Command, complete func(string) Completion, structs ...any) {
	for name, one := range f {
		isNamed := func(field string) bool { return strings.EqualFold(field, strings.ReplaceAll(name, "-", "")) }
		var field reflect.Value
		for _, fields := range structs {
			if v := reflect.Indirect(reflect.ValueOf(fields)); v.Kind() == reflect.Struct && !field.IsValid() {
				field = v.FieldByNameFunc(isNamed)
			}
		}
		flags.Define(c.Flags(), field, name, one.Short, one.Help, one.Repeat)
		flag := c.Flags().Lookup(name)
		if one.Default != "" {
			must(flag.Value.Set(one.Default))
			flag.DefValue = one.Default
		}
		if one.Bare != "" {
			flag.NoOptDefVal = one.Bare
		}
		if one.Complete != "" {
			must(c.RegisterFlagCompletionFunc(name, complete(one.Complete)))
		}
		if one.Values != nil {
			must(c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(one.Values, cobra.ShellCompDirectiveNoFileComp)))
		}
	}
}

// must panics on errors, which only a faulty declaration can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
