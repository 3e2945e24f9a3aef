package client

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// settable are the fields of entries that hold one value, by list.
var settable = map[string][]string{
	"clusters": {"server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority", "certificate-authority-data", "proxy-url", "disable-compression"},
	"users":    {"client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile", "username", "password", "as", "as-uid"},
	"contexts": {"cluster", "user", "namespace"},
}

const propertyHelp = `A property is current-context, or LIST.NAME.FIELD: a list (clusters, users or contexts), the
name of an entry, and a field of it.`

func configSet(f *connectionFlags) *cobra.Command {
	raw := false
	c := &cobra.Command{
		Use: "set PROPERTY VALUE", Short: "Set one value of a client configuration", Long: "Set one value of a client configuration.\n\n" + propertyHelp, Args: cobra.ExactArgs(2),
		Example: "  troupe config set contexts.shop.namespace test\n  troupe config set clusters.shop.certificate-authority-data \"$(cat ca.crt)\" --set-raw-bytes",
	}
	c.Flags().BoolVar(&raw, "set-raw-bytes", false, "The value of a field that ends in -data is the data itself, not its base64.")
	c.RunE = local(func(c *cobra.Command, args []string) error {
		p, err := f.property(args[0])
		if err != nil {
			return err
		}
		value, err := p.value(args[1], raw)
		if err != nil {
			return err
		}
		rules := f.rulesOf()
		if p.list == "" {
			err = kubeconfig.Edit(rules.Target("contexts", ""), func(file map[string]any) error { file["current-context"] = value; return nil })
		} else {
			_, err = setEntry(rules, p.list, p.name, func(inner map[string]any) { inner[p.field] = value })
		}
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "Property %q set.\n", args[0])
		}
		return err
	})
	return c
}

func configUnset(f *connectionFlags) *cobra.Command {
	return &cobra.Command{
		Use: "unset PROPERTY", Short: "Remove one value or one entry of a client configuration", Args: cobra.ExactArgs(1),
		Long:    "Remove one value or one entry of a client configuration.\n\n" + propertyHelp + " Without a field it is the entry.",
		Example: "  troupe config unset contexts.shop.namespace\n  troupe config unset users.jane",
		RunE: local(func(c *cobra.Command, args []string) error {
			p, err := f.property(args[0])
			if err != nil {
				return err
			}
			if p.list != "" && p.field == "" {
				if err = deleteEntry(f.rulesOf().Target(p.list, p.name), p.list, p.name); err == nil {
					fmt.Fprintf(c.OutOrStdout(), "Property %q unset.\n", args[0])
				}
				return err
			}
			err = kubeconfig.Edit(f.rulesOf().Target(cmp.Or(p.list, "contexts"), p.name), func(file map[string]any) error {
				if p.list == "" {
					delete(file, "current-context")
					return nil
				}
				entry := kubeconfig.Entry(file, p.list, p.name)
				if entry == nil {
					return fmt.Errorf("there is no %s %q", p.kind(), p.name)
				}
				if inner, ok := entry[p.kind()].(map[string]any); ok {
					delete(inner, p.field)
				}
				return nil
			})
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "Property %q unset.\n", args[0])
			}
			return err
		}),
	}
}

// A property is one value of a client configuration. Without a list it is current-context, without a field a whole entry.
type property struct{ list, name, field string }

// kind is that of an entry of the list, such as user.
func (p property) kind() string { return strings.TrimSuffix(p.list, "s") }

// property reads current-context or LIST.NAME.FIELD. Names may have dots.
func (f *connectionFlags) property(text string) (property, error) {
	if text == "current-context" {
		return property{}, nil
	}
	list, rest, ok := strings.Cut(text, ".")
	fields := settable[list]
	if !ok || fields == nil || rest == "" {
		return property{}, usageError(fmt.Sprintf("%q is no property: it is current-context, or begins with clusters., users. or contexts.", text))
	}
	view, err := f.rulesOf().View()
	if err != nil {
		return property{}, err
	}
	if kubeconfig.Entry(view, list, rest) != nil {
		return property{list: list, name: rest}, nil
	}
	i := strings.LastIndexByte(rest, '.')
	if i <= 0 || !slices.Contains(fields, rest[i+1:]) {
		return property{}, usageError(fmt.Sprintf("%q names no entry and no field: it is to be %s.NAME.FIELD, and the fields are %s", text, list, strings.Join(fields, ", ")))
	}
	return property{list, rest[:i], rest[i+1:]}, nil
}

// value is a text as the value of the property.
func (p property) value(text string, raw bool) (any, error) {
	switch {
	case p.list != "" && p.field == "":
		return nil, usageError(fmt.Sprintf("%s.%s is an entry: say which field of it, one of %s", p.list, p.name, strings.Join(settable[p.list], ", ")))
	case strings.HasSuffix(p.field, "-data") && raw:
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	case strings.HasSuffix(p.field, "-data"):
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			return nil, usageError(p.field + " holds base64, which the value is not; --set-raw-bytes takes the data itself")
		}
	case p.field == "insecure-skip-tls-verify" || p.field == "disable-compression":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errors.New(p.field + " is true or false")
		}
		return b, nil
	}
	return text, nil
}
