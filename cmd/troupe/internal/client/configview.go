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
