package client

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/internal/flags"
	"github.com/troupe-api/troupe/internal/embedded"
)

//go:embed commands.json
var commandTable []byte

// A declaration is a command in the table, which describes the fields.
type declaration struct {
	Group, Use, Short, Long, Example, Args, Complete, API, Resource string
	Aliases                                                         []string
	Flags                                                           map[string]struct {
		Short, Help, Bare, Default string
		Repeat                     bool
		Values                     []string
	}
}

// Options are the flags of a command, which they run with a session.
type options interface {
	run(s *session, args []string) error
}

// localOptions are the flags of a command that contacts no server.
type localOptions interface {
	runLocal(f *connectionFlags, out io.Writer, args []string) error
}

// commands returns the options of all commands by their path. Commands without options only have
// subcommands.
func commands() map[string]any {
	return map[string]any{
		"annotate": &labelOptions{field: "annotations"}, "api-resources": &apiResources{}, "api-versions": apiVersions{}, "apply": &applyOptions{},
		"attach": &attachOptions{}, "auth can-i": &canI{}, "auth whoami": &whoami{}, "certificate approve": &decision{verb: "approve", condition: "Approved", other: "Denied"},
		"certificate deny": &decision{verb: "deny", condition: "Denied", other: "Approved"}, "config current-context": currentContext{},
		"config get-contexts": &getContexts{}, "config use-context": useContext{}, "create": &createOptions{}, "create clusterrole": &clusterRole{},
		"create clusterrolebinding": &clusterRoleBinding{}, "create configmap": &configMap{}, "create deployment": &deployment{}, "create namespace": plainObject{},
		"create role": &role{}, "create rolebinding": &roleBinding{}, "create secret generic": &genericSecret{}, "create secret tls": &tlsSecret{},
		"create service clusterip": &service{kind: "ClusterIP"}, "create service nodeport": &service{kind: "NodePort"}, "create serviceaccount": plainObject{},
		"create token": &tokenOptions{}, "delete": &deleteOptions{}, "describe": &describeOptions{}, "diff": &diffOptions{}, "edit": &editOptions{},
		"exec": &execOptions{}, "explain": &explainOptions{}, "get": &getOptions{}, "label": &labelOptions{field: "labels"}, "logs": &logOptions{}, "patch": &patchOptions{},
		"port-forward": &forwardOptions{}, "scale": &scaleOptions{}, "top nodes": &topNodes{}, "top pods": &topPods{}, "wait": &waitOptions{},
	}
}

// Arguments that a command accepts.
var positional = map[string]cobra.PositionalArgs{
	"none": cobra.NoArgs, "1": cobra.ExactArgs(1), "0-2": cobra.MaximumNArgs(2), "2+": cobra.MinimumNArgs(2), "generator": knownGenerator,
}

// AddTo adds the client commands to the program. The connection flags are also added to the
// program, so that they may precede the name of the command.
func AddTo(root *cobra.Command) {
	f := &connectionFlags{}
	root.AddGroup(
		&cobra.Group{ID: "client", Title: "Objects:"},
		&cobra.Group{ID: "cluster", Title: "Running workloads:"},
		&cobra.Group{ID: "access", Title: "Access and connection:"},
	)
	var table struct {
		Shared   json.RawMessage // flags that several commands have
		Commands map[string]declaration
	}
	embedded.Decode(commandTable, &table)
	all, made := commands(), map[string]*cobra.Command{"": root}
	for _, path := range slices.Sorted(maps.Keys(table.Commands)) {
		made[path] = table.Commands[path].command(f, all[path])
		made[path[:max(0, strings.LastIndexByte(path, ' '))]].AddCommand(made[path])
	}
	f.add(root.Flags())
	root.Flags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	root.TraverseChildren = true
}

// command returns the command that runs options, or prints its help if they are nil.
func (d declaration) command(f *connectionFlags, o any) *cobra.Command {
	c := &cobra.Command{
		GroupID: d.Group, Use: d.Use, Short: d.Short, Long: d.Long, Example: d.Example, Aliases: d.Aliases,
		Args: positional[d.Args], ValidArgsFunction: f.completion(d.Complete),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	fields := []any{o}
	if g, ok := o.(generator); ok {
		made := &generate{generator: g, declaration: d}
		o, fields = made, append(fields, &made.createOptions)
	}
	switch o := o.(type) {
	case options:
		c.RunE = f.run(o)
	case localOptions:
		c.RunE = func(c *cobra.Command, args []string) error { return asError(o.runLocal(f, c.OutOrStdout(), args)) }
	}
	d.bind(c, fields)
	prepare(f, c)
	return c
}

// bind adds the flags, each bound to the field of its name.
func (d declaration) bind(c *cobra.Command, all []any) {
	for name, one := range d.Flags {
		isNamed := func(field string) bool { return strings.EqualFold(field, strings.ReplaceAll(name, "-", "")) }
		var field reflect.Value
		for _, fields := range all {
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
		if one.Values != nil {
			must(c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(one.Values, cobra.ShellCompDirectiveNoFileComp)))
		}
	}
}

// must panics on errors of the table.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// prepare adds connection flags and error messages to a command.
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
	connection := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	f.add(connection)
	c.Flags().AddFlagSet(connection) // a command's own flags take precedence, such as --user of a binding
	for flag, complete := range map[string]string{"namespace": "names namespaces", "context": "entries contexts", "cluster": "entries clusters", "user": "entries users"} {
		must(c.RegisterFlagCompletionFunc(flag, f.completion(complete)))
	}
}

// knownGenerator rejects the arguments of create, which are no subcommands.
func knownGenerator(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("no generator for %q: write the object to a file and create it with -f (troupe explain %[1]s lists its fields)", args[0])
	}
	return nil
}
