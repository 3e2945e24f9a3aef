package client

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

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

func configDelete(f *connectionFlags, kind, list string) *cobra.Command {
	return &cobra.Command{Use: "delete-" + kind + " NAME", Short: "Delete a " + kind, Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeEntries(list), RunE: local(func(c *cobra.Command, args []string) error {
		path := f.rulesOf().Target(list, args[0])
		err := deleteEntry(path, list, args[0])
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "deleted %s %s from %s\n", kind, args[0], path)
		}
		return err
	})}
}

// deleteEntry deletes an entry of a list from a file.
func deleteEntry(path, list, name string) error {
	return kubeconfig.Edit(path, func(file map[string]any) error {
		if kubeconfig.Entry(file, list, name) == nil {
			return fmt.Errorf("cannot delete %s %s, not in %s", strings.TrimSuffix(list, "s"), name, path)
		}
		entries, _ := file[list].([]any)
		file[list] = slices.DeleteFunc(entries, func(e any) bool { entry, ok := e.(map[string]any); return ok && entry["name"] == name })
		return nil
	})
}
