package client

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/internal/commands"
	"github.com/troupe-api/troupe/internal/embedded"
)

//go:embed commands.json
var commandTable []byte

// A declaration is a command in commands.yaml, where the fields are documented.
type declaration struct {
	commands.Declaration
	Complete, API, Resource string
}

type options interface {
	run(s *session, args []string) error
}

// localOptions are the flags of a command that needs no server.
type localOptions interface {
	runLocal(f *connectionFlags, out io.Writer, args []string) error
}

// allOptions returns each command's options by command path. Commands that only have subcommands
// have none.
func allOptions() map[string]any {
	return map[string]any{
		"annotate": &labelOptions{field: "annotations"}, "api-resources": &apiResources{}, "api-versions": apiVersions{}, "apply": &applyOptions{},
		"attach": &attachOptions{}, "auth can-i": &canI{}, "auth whoami": &whoami{}, "certificate approve": &decision{verb: "approve", condition: "Approved", other: "Denied"},
		"certificate deny": &decision{verb: "deny", condition: "Denied", other: "Approved"}, "config current-context": currentContext{},
		"config get-contexts": &getContexts{}, "config use-context": useContext{}, "create": &createOptions{},
		"create configmap": &configMap{}, "create deployment": &deployment{}, "create namespace": plainObject{},
		"create secret generic": &genericSecret{}, "create secret tls": &tlsSecret{}, "create serviceaccount": plainObject{},
		"create token": &tokenOptions{}, "delete": &deleteOptions{}, "describe": &describeOptions{}, "diff": &diffOptions{}, "edit": &editOptions{},
		"exec": &execOptions{}, "explain": &explainOptions{}, "get": &getOptions{}, "history": &historyOptions{}, "label": &labelOptions{field: "labels"}, "logs": &logOptions{}, "patch": &patchOptions{},
		"port-forward": &forwardOptions{}, "scale": &scaleOptions{}, "undelete": &undeleteOptions{}, "wait": &waitOptions{},
	}
}

// AddTo adds the client commands to the program. The connection flags become program flags, so that
// they may precede the command. The program must have the groups client, cluster and access.
func AddTo(root *cobra.Command) {
	f := &connectionFlags{}
	var table struct {
		Shared   map[string]commands.Flags // flags that several commands have
		Commands map[string]declaration
		Kubectl  []string
	}
	embedded.Decode(commandTable, &table)
	all, made := allOptions(), map[string]*cobra.Command{"": root}
	for _, path := range slices.Sorted(maps.Keys(table.Commands)) {
		c := table.Commands[path].command(f, all[path])
		table.Shared["connection"].Bind(c, f.completion, f)
		made[path] = c
		made[parent(path)].AddCommand(c)
	}
	for _, path := range table.Kubectl {
		made[parent(path)].AddCommand(&cobra.Command{
			Use: path[strings.LastIndexByte(path, ' ')+1:], Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return asError(fmt.Errorf("troupe has no %q: use kubectl %[1]s", path))
			},
		})
	}
	table.Shared["connection"].Bind(root, f.completion, f)
	root.Flags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	root.TraverseChildren = true
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, ' '))] }

// command returns a command that runs o, or prints its help if o is nil.
func (d declaration) command(f *connectionFlags, o any) *cobra.Command {
	c := d.New()
	c.ValidArgsFunction = f.completion(d.Complete)
	if d.Args == "generator" {
		c.Args = knownGenerator
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
	d.Flags.Bind(c, f.completion, fields...)
	explainErrors(c)
	return c
}

func explainErrors(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		// Report an unknown subcommand first, because its flags are also unknown.
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
}

// knownGenerator rejects an argument of the create command. All generators are subcommands, so a
// remaining argument can only be the name of an unknown one.
func knownGenerator(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("no generator for %q: write the object to a file and create it with -f (troupe explain %[1]s lists its fields)", args[0])
	}
	return nil
}
