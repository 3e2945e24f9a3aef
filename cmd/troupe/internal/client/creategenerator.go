package client

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A generator creates an object of a common kind from flags.
type generator struct {
	use, short string
	// group is the API group without the vendor's domain.
	group, resource string
	example         string
	// flags adds flags, and returns a function that builds the object except for its kind and name.
	flags func(*pflag.FlagSet) func(*generated) (tree.Tree, error)
	// below are the subcommands; it is empty for a generator of objects.
	below []generator
}

// generated holds the inputs of a generator besides flags.
type generated struct {
	*session
	catalog *discovery.Catalog
	name    string
	args    []string // after the name
}

// generators returns the subcommands of create.
func generators() []generator {
	return []generator{
		{use: "namespace NAME", short: "Create a namespace", resource: "namespaces", flags: plainObject},
		{use: "configmap NAME", short: "Create a ConfigMap from literals and files", resource: "configmaps", flags: configMap,
			example: "  troupe create configmap settings --from-literal=mode=fast --from-file=server.conf"},
		{use: "secret", short: "Create a Secret", below: []generator{
			{use: "generic NAME", short: "Create a Secret from literals and files", resource: "secrets", flags: genericSecret},
			{use: "tls NAME", short: "Create a TLS Secret from a certificate and its key", resource: "secrets", flags: tlsSecret},
		}},
		{use: "serviceaccount NAME", short: "Create a service account", resource: "serviceaccounts", flags: plainObject},
		{use: "role NAME", short: "Create a role", group: "rbac.authorization", resource: "roles", flags: role,
			example: "  troupe create role reader --verb=get,list,watch --resource=pods,deployments.apps"},
		{use: "clusterrole NAME", short: "Create a cluster role", group: "rbac.authorization", resource: "clusterroles", flags: clusterRole},
		{use: "rolebinding NAME", short: "Bind a role to users, groups or service accounts", group: "rbac.authorization", resource: "rolebindings", flags: roleBinding},
		{use: "clusterrolebinding NAME", short: "Bind a cluster role to users, groups or service accounts", group: "rbac.authorization", resource: "clusterrolebindings", flags: clusterRoleBinding},
		{use: "deployment NAME", short: "Create a deployment", group: "apps", resource: "deployments", flags: deployment,
			example: "  troupe create deployment web --image=example.com/web:1 --replicas=3"},
		{use: "service", short: "Create a service", below: []generator{
			{use: "clusterip NAME", short: "Create a ClusterIP service", resource: "services", flags: service("ClusterIP")},
			{use: "nodeport NAME", short: "Create a NodePort service", resource: "services", flags: service("NodePort")},
		}},
	}
}

func (g generator) command(f *connectionFlags) *cobra.Command {
	if len(g.below) > 0 {
		c := &cobra.Command{Use: g.use, Short: g.short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
		for _, b := range g.below {
			c.AddCommand(b.command(f))
		}
		return c
	}
	o := &createOptions{}
	c := &cobra.Command{Use: g.use, Short: g.short, Example: g.example}
	switch g.resource {
	case "namespaces":
		c.Aliases = []string{"ns"}
	case "configmaps":
		c.Aliases = []string{"cm"}
	case "serviceaccounts":
		c.Aliases = []string{"sa"}
	}
	o.add(c)
	build := g.flags(c.Flags())
	c.RunE = f.run(func(s *session, args []string) error {
		if len(args) == 0 {
			return usageError("exactly one NAME is required, got 0")
		}
		if len(args) > 1 && !strings.Contains(g.use, "--") {
			return usageError(fmt.Sprintf("exactly one NAME is required, got %d", len(args)))
		}
		catalog, err := s.served()
		if err != nil {
			return err
		}
		r, err := catalog.Own(g.group, g.resource)
		if err != nil {
			return err
		}
		t, err := build(&generated{s, catalog, args[0], args[1:]})
		if err != nil {
			return err
		}
		t["apiVersion"], t["kind"] = r.APIVersion(), r.Kind
		m := t.EnsureObject("metadata")
		m["name"] = args[0]
		if r.Namespaced && s.flags.rules.Overrides.Namespace != "" {
			m["namespace"] = s.Namespace
		}
		made, err := s.post(o, r, s.namespaceOf(r, false), t)
		if err != nil {
			return failedTo("create "+strings.ToLower(r.Kind), err)
		}
		return s.printAs(o.print, object{resource: r, tree: made}, "created"+o.dryRun.suffix())
	})
	return c
}

// plainObject builds objects that need only a name.
func plainObject(*pflag.FlagSet) func(*generated) (tree.Tree, error) {
	return func(*generated) (tree.Tree, error) { return tree.Tree{}, nil }
}
