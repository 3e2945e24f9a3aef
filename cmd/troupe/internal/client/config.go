package client

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func configCommand(f *connectionFlags) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Show and change client configurations", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(
		configView(f), configCurrent(f), configUse(f),
		configList(f, "contexts"), configList(f, "clusters"), configList(f, "users"),
		setContext(f), setCluster(f), setCredentials(f), renameContext(f),
		configDelete(f, "context", "contexts"), configDelete(f, "cluster", "clusters"), configDelete(f, "user", "users"),
	)
	return c
}

// rulesOf are the rules by which files are found.
func (f *connectionFlags) rulesOf() kubeconfig.Rules {
	r := f.rules
	r.Fallback = defaultKubeconfig
	return r
}

// local makes a command run that asks no server.
func local(do func(c *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error { return asError(do(c, args)) }
}

// completeEntries completes the names of a list.
func (f *connectionFlags) completeEntries(list string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		view, err := f.rulesOf().View()
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

func configView(f *connectionFlags) *cobra.Command {
	o := printer.Options{Output: "yaml"}
	var raw, minify, flatten bool
	c := &cobra.Command{Use: "view", Short: "Show the client configuration that counts", Args: cobra.NoArgs}
	addOutput(c, &o)
	c.Flags().BoolVar(&raw, "raw", false, "Show secrets, too.")
	c.Flags().BoolVar(&minify, "minify", false, "Show only what the current context needs.")
	c.Flags().BoolVar(&flatten, "flatten", false, "Show what is in files, too, so that the result needs no other file.")
	c.RunE = local(func(c *cobra.Command, _ []string) error {
		if o.Output == "" {
			o.Output = "yaml"
		}
		view, err := f.rulesOf().View()
		if err != nil {
			return err
		}
		t, _ := tree.Of(view).(tree.Tree)
		if f.rules.Context != "" {
			t["current-context"] = f.rules.Context
		}
		if minify {
			if err := minified(t); err != nil {
				return err
			}
		}
		if flatten {
			if err := flattened(t, f.rulesOf()); err != nil {
				return err
			}
		}
		if !raw {
			redact(t)
		}
		p, err := printer.New(o)
		if err != nil {
			return err
		}
		return p(c.OutOrStdout(), t)
	})
	return c
}

// minified leaves only the current context, and what it names.
func minified(t tree.Tree) error {
	current := t.String("current-context")
	var pair tree.Tree
	for _, one := range t.Objects("contexts") {
		if one.String("name") == current {
			pair = one.Object("context")
		}
	}
	if pair == nil {
		return fmt.Errorf("cannot locate context %q", current)
	}
	for list, name := range map[string]string{"contexts": current, "clusters": pair.String("cluster"), "users": pair.String("user")} {
		t[list] = slices.DeleteFunc(t.List(list), func(e any) bool { one, _ := e.(tree.Tree); return one.String("name") != name })
	}
	return nil
}

// flattened puts the content of files into their fields.
func flattened(t tree.Tree, r kubeconfig.Rules) error {
	for list, fields := range map[string][]string{"clusters": {"certificate-authority"}, "users": {"client-certificate", "client-key"}} {
		for _, one := range t.Objects(list) {
			inner := one.Object(list[:len(list)-1])
			for _, field := range fields {
				path := inner.String(field)
				if path == "" {
					continue
				}
				text, err := os.ReadFile(kubeconfig.Beside(r.Target(list, one.String("name")), path))
				if err != nil {
					return err
				}
				inner[field+"-data"] = base64.StdEncoding.EncodeToString(text)
				delete(inner, field)
			}
		}
	}
	return nil
}

// redact hides secrets, and long data that nobody reads.
func redact(t tree.Tree) {
	for _, one := range t.Objects("clusters") {
		if inner := one.Object("cluster"); inner.Has("certificate-authority-data") {
			inner["certificate-authority-data"] = "DATA+OMITTED"
		}
	}
	for _, one := range t.Objects("users") {
		inner := one.Object("user")
		for field, shown := range map[string]string{"client-certificate-data": "DATA+OMITTED", "client-key-data": "DATA+OMITTED", "token": "REDACTED", "password": "REDACTED"} {
			if inner.Has(field) {
				inner[field] = shown
			}
		}
		for _, field := range []string{"client-secret", "id-token", "refresh-token"} {
			if config := inner.Object("auth-provider", "config"); config.Has(field) {
				config[field] = "REDACTED"
			}
		}
		for _, e := range inner.Object("exec").Objects("env") {
			if e.Has("value") {
				e["value"] = "REDACTED"
			}
		}
	}
}

func configCurrent(f *connectionFlags) *cobra.Command {
	return &cobra.Command{Use: "current-context", Short: "Show the name of the current context", Args: cobra.NoArgs, RunE: local(func(c *cobra.Command, _ []string) error {
		view, err := f.rulesOf().View()
		if err != nil {
			return err
		}
		current, _ := view["current-context"].(string)
		if current == "" {
			return usageError("current-context is not set")
		}
		fmt.Fprintln(c.OutOrStdout(), current)
		return nil
	})}
}

func configUse(f *connectionFlags) *cobra.Command {
	return &cobra.Command{
		Use: "use-context NAME", Aliases: []string{"use"}, Short: "Make a context the current one", Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeEntries("contexts"),
		RunE: local(func(c *cobra.Command, args []string) error {
			rules := f.rulesOf()
			view, err := rules.View()
			if err != nil {
				return err
			}
			if kubeconfig.Entry(view, "contexts", args[0]) == nil {
				return fmt.Errorf("no context exists with the name: %q", args[0])
			}
			// The first file that names a context is the one that counts.
			err = kubeconfig.Edit(rules.Target("contexts", ""), func(file map[string]any) error { file["current-context"] = args[0]; return nil })
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "Switched to context %q.\n", args[0])
			}
			return err
		}),
	}
}

func configList(f *connectionFlags, list string) *cobra.Command {
	noHeaders, output := false, ""
	c := &cobra.Command{Use: "get-" + list, Short: "List the " + list}
	c.Flags().BoolVar(&noHeaders, "no-headers", false, "Leave out the headers.")
	c.Flags().StringVarP(&output, "output", "o", "", "name: only names.")
	c.RunE = local(func(c *cobra.Command, args []string) error {
		view, err := f.rulesOf().View()
		if err != nil {
			return err
		}
		current, _ := view["current-context"].(string)
		grid := &printer.Grid{}
		switch {
		case noHeaders || output == "name":
		case list == "contexts":
			grid.Row("CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE")
		default:
			grid.Row("NAME")
		}
		names := entryNames(view, list)
		slices.Sort(names)
		for _, wanted := range args {
			if !slices.Contains(names, wanted) {
				return fmt.Errorf("%s %q not found", list[:len(list)-1], wanted)
			}
		}
		for _, name := range names {
			if len(args) > 0 && !slices.Contains(args, name) {
				continue
			}
			if list != "contexts" || output == "name" {
				grid.Row(name)
				continue
			}
			mark := ""
			if name == current {
				mark = "*"
			}
			t, _ := tree.Of(kubeconfig.Entry(view, list, name)).(tree.Tree)
			pair := t.Object("context")
			grid.Row(mark, name, pair.String("cluster"), pair.String("user"), pair.String("namespace"))
		}
		return grid.Flush(c.OutOrStdout())
	})
	return c
}

// setEntry changes an entry of a list, and tells whether it is new.
func setEntry(rules kubeconfig.Rules, list, name string, change func(inner map[string]any)) (made bool, err error) {
	err = kubeconfig.Edit(rules.Target(list, name), func(file map[string]any) error {
		entry := kubeconfig.Entry(file, list, name)
		if made = entry == nil; made {
			entry = map[string]any{"name": name}
			entries, _ := file[list].([]any)
			file[list] = append(entries, entry)
		}
		kind := list[:len(list)-1]
		inner, _ := entry[kind].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
			entry[kind] = inner
		}
		change(inner)
		return nil
	})
	return made, err
}

// setGiven sets the fields whose flags were given.
func setGiven(c *cobra.Command, inner map[string]any, flags ...string) {
	for _, name := range flags {
		if flag := c.Flags().Lookup(name); flag != nil && flag.Changed {
			var v any = flag.Value.String()
			if flag.Value.Type() == "bool" {
				v = v == "true"
			}
			if inner[name] = v; v == "" || v == false {
				delete(inner, name)
			}
		}
	}
}

func setContext(f *connectionFlags) *cobra.Command {
	current := false
	c := &cobra.Command{
		Use: "set-context NAME | --current", Short: "Make or change a context", Args: cobra.MaximumNArgs(1), ValidArgsFunction: f.completeEntries("contexts"),
		Example: "  troupe config set-context --current --namespace=shop",
	}
	c.Flags().BoolVar(&current, "current", false, "Change the current context.")
	c.RunE = local(func(c *cobra.Command, args []string) error {
		rules := f.rulesOf()
		name := ""
		switch {
		case current == (len(args) == 1):
			return usageError("name a context, or give --current")
		case current:
			view, err := rules.View()
			if err != nil {
				return err
			}
			if name, _ = view["current-context"].(string); name == "" {
				return usageError("no current context is set")
			}
		default:
			name = args[0]
		}
		made, err := setEntry(rules, "contexts", name, func(inner map[string]any) { setGiven(c, inner, "cluster", "user", "namespace") })
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "Context %q %s.\n", name, map[bool]string{true: "created", false: "modified"}[made])
		return nil
	})
	return c
}

func setCluster(f *connectionFlags) *cobra.Command {
	var embed bool
	var proxy string
	c := &cobra.Command{Use: "set-cluster NAME", Short: "Make or change a cluster: where a server is", Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeEntries("clusters")}
	c.Flags().BoolVar(&embed, "embed-certs", false, "Keep the CA in the file, not where it is.")
	c.Flags().StringVar(&proxy, "proxy-url", "", "Proxy on the way to the server.")
	c.RunE = local(func(c *cobra.Command, args []string) error {
		var ca []byte
		if path := f.rules.Overrides.CertificateAuthority; embed && path != "" {
			var err error
			if ca, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		_, err := setEntry(f.rulesOf(), "clusters", args[0], func(inner map[string]any) {
			setGiven(c, inner, "server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority", "proxy-url")
			if ca != nil {
				delete(inner, "certificate-authority")
				inner["certificate-authority-data"] = base64.StdEncoding.EncodeToString(ca)
			}
		})
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "Cluster %q set.\n", args[0])
		}
		return err
	})
	return c
}

func setCredentials(f *connectionFlags) *cobra.Command {
	var embed bool
	var username, password, command, version, mode string
	var execArgs []string
	c := &cobra.Command{
		Use: "set-credentials NAME", Short: "Make or change a user: what one proves oneself with", Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeEntries("users"),
		Example: "  troupe config set-credentials reporter --token=$(troupe create token reporter)",
	}
	c.Flags().BoolVar(&embed, "embed-certs", false, "Keep certificate and key in the file, not where they are.")
	c.Flags().StringVar(&username, "username", "", "Name for a password.")
	c.Flags().StringVar(&password, "password", "", "Password.")
	c.Flags().StringVar(&command, "exec-command", "", "Program that gives the credential.")
	c.Flags().StringVar(&version, "exec-api-version", "client.authentication.platform.io/v1", "Version in which the program speaks.")
	c.Flags().StringVar(&mode, "exec-interactive-mode", "IfAvailable", "Whether the program asks people: Never, IfAvailable, Always.")
	c.Flags().StringArrayVar(&execArgs, "exec-arg", nil, "Argument of the program; may be repeated.")
	c.Flags().StringToStringVar(new(map[string]string), "exec-env", nil, "Variables of the program: NAME=VALUE.")
	c.RunE = local(func(c *cobra.Command, args []string) error {
		env, err := c.Flags().GetStringToString("exec-env")
		if err != nil {
			return err
		}
		execEnv := keysOf(env)
		embedded := map[string]string{}
		for field, path := range map[string]string{"client-certificate": f.rules.Overrides.Certificate, "client-key": f.rules.Overrides.Key} {
			if embed && path != "" {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				embedded[field] = base64.StdEncoding.EncodeToString(text)
			}
		}
		_, err = setEntry(f.rulesOf(), "users", args[0], func(inner map[string]any) {
			setGiven(c, inner, "client-certificate", "client-key", "token", "username", "password")
			for field, data := range embedded {
				delete(inner, field)
				inner[field+"-data"] = data
			}
			if command == "" {
				return
			}
			exec := map[string]any{"command": command, "apiVersion": version, "interactiveMode": mode}
			if len(execArgs) > 0 {
				exec["args"] = execArgs
			}
			var variables []any
			for _, name := range execEnv {
				variables = append(variables, map[string]any{"name": name, "value": env[name]})
			}
			if variables != nil {
				exec["env"] = variables
			}
			inner["exec"] = exec
		})
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "User %q set.\n", args[0])
		}
		return err
	})
	return c
}

func renameContext(f *connectionFlags) *cobra.Command {
	return &cobra.Command{Use: "rename-context OLD NEW", Short: "Give a context another name", Args: cobra.ExactArgs(2), ValidArgsFunction: f.completeEntries("contexts"), RunE: local(func(c *cobra.Command, args []string) error {
		err := kubeconfig.Edit(f.rulesOf().Target("contexts", args[0]), func(file map[string]any) error {
			entry := kubeconfig.Entry(file, "contexts", args[0])
			switch {
			case entry == nil:
				return fmt.Errorf("cannot rename the context %q, it's not in the client configuration", args[0])
			case kubeconfig.Entry(file, "contexts", args[1]) != nil:
				return fmt.Errorf("cannot rename the context %q, the context %q already exists", args[0], args[1])
			}
			if entry["name"] = args[1]; file["current-context"] == args[0] {
				file["current-context"] = args[1]
			}
			return nil
		})
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "Context %q renamed to %q.\n", args[0], args[1])
		}
		return err
	})}
}

func configDelete(f *connectionFlags, kind, list string) *cobra.Command {
	return &cobra.Command{Use: "delete-" + kind + " NAME", Short: "Delete a " + kind, Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeEntries(list), RunE: local(func(c *cobra.Command, args []string) error {
		path := f.rulesOf().Target(list, args[0])
		err := kubeconfig.Edit(path, func(file map[string]any) error {
			if kubeconfig.Entry(file, list, args[0]) == nil {
				return fmt.Errorf("cannot delete %s %s, not in %s", kind, args[0], path)
			}
			entries, _ := file[list].([]any)
			file[list] = slices.DeleteFunc(entries, func(e any) bool { entry, ok := e.(map[string]any); return ok && entry["name"] == args[0] })
			return nil
		})
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "deleted %s %s from %s\n", kind, args[0], path)
		}
		return err
	})}
}
