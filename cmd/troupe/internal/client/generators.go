package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A generator makes an object of one of the common kinds out of flags.
type generator struct {
	use, short string
	// group and resource say what is made; group has no vendor's name in it.
	group, resource string
	example         string
	// flags adds flags; the function that it gives makes the object but for its kind and name.
	flags func(*pflag.FlagSet) func(*generated) (tree.Tree, error)
	// parent is the word before the command, where there are several of a kind.
	below []generator
}

// generated is what an object is made of beside flags.
type generated struct {
	*session
	catalog *discovery.Catalog
	name    string
	args    []string // behind the name
}

// generators are the commands below create.
func generators() []generator {
	return []generator{
		{use: "namespace NAME", short: "Create a namespace", resource: "namespaces", flags: plainObject},
		{use: "configmap NAME", short: "Create a ConfigMap of values and files", resource: "configmaps", flags: configMap,
			example: "  troupe create configmap settings --from-literal=mode=fast --from-file=server.conf"},
		{use: "secret", short: "Create a Secret", below: []generator{
			{use: "generic NAME", short: "Create a Secret of values and files", resource: "secrets", flags: genericSecret},
			{use: "docker-registry NAME", short: "Create a Secret for pulling images", resource: "secrets", flags: registrySecret},
			{use: "tls NAME", short: "Create a Secret of a certificate and its key", resource: "secrets", flags: tlsSecret},
		}},
		{use: "serviceaccount NAME", short: "Create a service account", resource: "serviceaccounts", flags: plainObject},
		{use: "role NAME", short: "Create a role: what may be done in a namespace", group: "rbac.authorization", resource: "roles", flags: role,
			example: "  troupe create role reader --verb=get,list,watch --resource=pods,deployments.apps"},
		{use: "clusterrole NAME", short: "Create a cluster role: what may be done everywhere", group: "rbac.authorization", resource: "clusterroles", flags: clusterRole},
		{use: "rolebinding NAME", short: "Give a role to users, groups or service accounts", group: "rbac.authorization", resource: "rolebindings", flags: roleBinding},
		{use: "clusterrolebinding NAME", short: "Give a cluster role to users, groups or service accounts", group: "rbac.authorization", resource: "clusterrolebindings", flags: clusterRoleBinding},
		{use: "deployment NAME", short: "Create a deployment", group: "apps", resource: "deployments", flags: deployment,
			example: "  troupe create deployment web --image=example.com/web:1 --replicas=3"},
		{use: "job NAME [-- COMMAND…]", short: "Create a job, of an image or of a cron job", group: "batch", resource: "jobs", flags: job},
		{use: "cronjob NAME --schedule=… [-- COMMAND…]", short: "Create a cron job", group: "batch", resource: "cronjobs", flags: cronJob},
		{use: "service", short: "Create a service", below: []generator{
			{use: "clusterip NAME", short: "Create a service with an address of the cluster", resource: "services", flags: service("ClusterIP")},
			{use: "nodeport NAME", short: "Create a service with a port of every node", resource: "services", flags: service("NodePort")},
			{use: "loadbalancer NAME", short: "Create a service behind a load balancer", resource: "services", flags: service("LoadBalancer")},
			{use: "externalname NAME", short: "Create a service that is another name", resource: "services", flags: externalName},
		}},
		{use: "ingress NAME", short: "Create an ingress", group: "networking", resource: "ingresses", flags: ingress,
			example: "  troupe create ingress web --rule=example.com/=web:80"},
		{use: "quota NAME", short: "Create a quota of a namespace", resource: "resourcequotas", flags: quota,
			example: "  troupe create quota team --hard=pods=10,requests.cpu=4"},
		{use: "poddisruptionbudget NAME", short: "Create a budget of disruptions", group: "policy", resource: "poddisruptionbudgets", flags: disruptionBudget},
		{use: "priorityclass NAME", short: "Create a priority class", group: "scheduling", resource: "priorityclasses", flags: priorityClass},
	}
}

// command is the generator as a command.
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
	case "resourcequotas":
		c.Aliases = []string{"resourcequota"}
	case "poddisruptionbudgets":
		c.Aliases = []string{"pdb"}
	case "cronjobs":
		c.Aliases = []string{"cj"}
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

// plainObject is an object that needs nothing but a name.
func plainObject(*pflag.FlagSet) func(*generated) (tree.Tree, error) {
	return func(*generated) (tree.Tree, error) { return tree.Tree{}, nil }
}

// valueFlags say what values a ConfigMap or a Secret has.
type valueFlags struct{ literals, files, envFiles []string }

func (v *valueFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&v.literals, "from-literal", nil, "A value: key=text; may be repeated.")
	f.StringSliceVar(&v.files, "from-file", nil, "A file or a folder of files, under its name or as key=file; may be repeated.")
	f.StringSliceVar(&v.envFiles, "from-env-file", nil, "A file with lines of key=text; may be repeated.")
}

// values are by key. Each key may be given once.
func (v *valueFlags) values() (map[string][]byte, error) {
	all := map[string][]byte{}
	add := func(key string, value []byte) error {
		if _, twice := all[key]; twice {
			return usageError(fmt.Sprintf("cannot add key %q, another key by that name already exists", key))
		}
		all[key] = value
		return nil
	}
	for _, l := range v.literals {
		key, text, ok := strings.Cut(l, "=")
		if !ok || key == "" {
			return nil, usageError(fmt.Sprintf("invalid literal source %v, expected key=value", l))
		}
		if err := add(key, []byte(text)); err != nil {
			return nil, err
		}
	}
	for _, source := range v.files {
		key, path, given := strings.Cut(source, "=")
		if !given {
			path, key = source, filepath.Base(source)
		}
		paths := map[string]string{key: path}
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			if given {
				return nil, usageError("cannot give a key name for a folder: " + source)
			}
			delete(paths, key)
			entries, err := os.ReadDir(path)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.Type().IsRegular() {
					paths[e.Name()] = filepath.Join(path, e.Name())
				}
			}
		}
		for _, key := range keysOf(paths) {
			text, err := os.ReadFile(paths[key])
			if err != nil {
				return nil, err
			}
			if err := add(key, text); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range v.envFiles {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
				continue
			}
			key, value, ok := strings.Cut(strings.TrimLeft(line, " \t"), "=")
			if !ok {
				value = os.Getenv(key)
			}
			if err := add(key, []byte(value)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func configMap(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	v := &valueFlags{}
	v.add(f)
	return func(*generated) (tree.Tree, error) {
		values, err := v.values()
		if err != nil {
			return nil, err
		}
		t := tree.Tree{}
		for key, value := range values {
			if utf8.Valid(value) {
				t.EnsureObject("data")[key] = string(value)
			} else {
				t.EnsureObject("binaryData")[key] = base64.StdEncoding.EncodeToString(value)
			}
		}
		return t, nil
	}
}

func secretOf(kind string, values map[string][]byte) tree.Tree {
	t := tree.Tree{"type": kind}
	for key, value := range values {
		t.EnsureObject("data")[key] = base64.StdEncoding.EncodeToString(value)
	}
	return t
}

func genericSecret(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	v := &valueFlags{}
	v.add(f)
	kind := f.String("type", "Opaque", "Type of the Secret.")
	return func(*generated) (tree.Tree, error) {
		values, err := v.values()
		return secretOf(*kind, values), err
	}
}

func tlsSecret(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	cert, key := f.String("cert", "", "File of the certificate, in PEM."), f.String("key", "", "File of its key.")
	return func(g *generated) (tree.Tree, error) {
		if *cert == "" || *key == "" {
			return nil, usageError("key and cert must be specified")
		}
		certificate, certErr := os.ReadFile(*cert)
		secret, keyErr := os.ReadFile(*key)
		if err := errors.Join(certErr, keyErr); err != nil {
			return nil, err
		}
		return secretOf(g.catalog.Naming.Translate("platform.io/tls"), map[string][]byte{"tls.crt": certificate, "tls.key": secret}), nil
	}
}

func registrySecret(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	server, email := f.String("docker-server", "https://index.docker.io/v1/", "The registry."), f.String("docker-email", "", "Mail address.")
	username, password := f.String("docker-username", "", "Name."), f.String("docker-password", "", "Password.")
	return func(g *generated) (tree.Tree, error) {
		if *username == "" || *password == "" {
			return nil, usageError("required flag(s) \"docker-username\", \"docker-password\" not set")
		}
		entry := tree.Tree{"username": *username, "password": *password, "auth": base64.StdEncoding.EncodeToString([]byte(*username + ":" + *password))}
		if *email != "" {
			entry["email"] = *email
		}
		text := document.JSON(tree.Tree{"auths": tree.Tree{*server: entry}})
		return secretOf(g.catalog.Naming.Translate("platform.io/dockerconfigjson"), map[string][]byte{".dockerconfigjson": text}), nil
	}
}

// subjectFlags say to whom a role is given.
type subjectFlags struct{ users, groups, accounts []string }

func (b *subjectFlags) add(f *pflag.FlagSet) {
	f.StringSliceVar(&b.users, "user", nil, "A user; may be repeated.")
	f.StringSliceVar(&b.groups, "group", nil, "A group; may be repeated.")
	f.StringSliceVar(&b.accounts, "serviceaccount", nil, "A service account, as namespace:name; may be repeated.")
}

// binding gives a role of a kind to the subjects.
func (b *subjectFlags) binding(g *generated, kind, name string) (tree.Tree, error) {
	group := g.catalog.Naming.Group("rbac.authorization")
	subjects := []any{}
	for _, u := range b.users {
		subjects = append(subjects, tree.Tree{"kind": "User", "apiGroup": group, "name": u})
	}
	for _, u := range b.groups {
		subjects = append(subjects, tree.Tree{"kind": "Group", "apiGroup": group, "name": u})
	}
	for _, a := range b.accounts {
		namespace, name, ok := strings.Cut(a, ":")
		if !ok || namespace == "" || name == "" {
			return nil, usageError("serviceaccount must be <namespace>:<name>")
		}
		subjects = append(subjects, tree.Tree{"kind": "ServiceAccount", "namespace": namespace, "name": name})
	}
	return tree.Tree{"roleRef": tree.Tree{"apiGroup": group, "kind": kind, "name": name}, "subjects": subjects}, nil
}

func roleBinding(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	b := &subjectFlags{}
	b.add(f)
	role, cluster := f.String("role", "", "Role to give."), f.String("clusterrole", "", "Cluster role to give, in the namespace only.")
	return func(g *generated) (tree.Tree, error) {
		switch {
		case (*role == "") == (*cluster == ""):
			return nil, usageError("exactly one of clusterrole or role must be specified")
		case *role != "":
			return b.binding(g, "Role", *role)
		}
		return b.binding(g, "ClusterRole", *cluster)
	}
}

func clusterRoleBinding(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	b := &subjectFlags{}
	b.add(f)
	cluster := f.String("clusterrole", "", "Cluster role to give.")
	return func(g *generated) (tree.Tree, error) {
		if *cluster == "" {
			return nil, usageError("clusterrole must be specified")
		}
		return b.binding(g, "ClusterRole", *cluster)
	}
}

// ruleFlags say what a role lets do.
type ruleFlags struct{ verbs, resources, names []string }

func (r *ruleFlags) add(f *pflag.FlagSet) {
	f.StringSliceVar(&r.verbs, "verb", nil, "What may be done: get, list, watch, create, update, patch, delete …; * is everything.")
	f.StringSliceVar(&r.resources, "resource", nil, "Types on which: pods, deployments.apps, pods/log.")
	f.StringSliceVar(&r.names, "resource-name", nil, "Names of objects on which; none is all.")
}

// rules are one for each group of the API.
func (r *ruleFlags) rules(g *generated) ([]any, error) {
	if len(r.verbs) == 0 {
		return nil, usageError("at least one verb must be specified")
	}
	if len(r.resources) == 0 {
		return nil, usageError("at least one resource must be specified")
	}
	byGroup := map[string][]string{}
	var groups []string
	for _, word := range r.resources {
		name, sub, hasSub := strings.Cut(word, "/")
		group := ""
		if name == "*" {
			name, group = "*", "*"
		} else {
			found, err := g.catalog.Find(name)
			if err != nil {
				return nil, err
			}
			name, group = found.Name, found.Group
		}
		if hasSub {
			name += "/" + sub
		}
		if _, known := byGroup[group]; !known {
			groups = append(groups, group)
		}
		byGroup[group] = append(byGroup[group], name)
	}
	if len(r.names) > 0 && (len(groups) > 1 || len(byGroup[groups[0]]) > 1) {
		return nil, usageError("resource name(s) can not be specified for more than one resource type")
	}
	var rules []any
	for _, group := range groups {
		rule := tree.Tree{"apiGroups": []any{group}, "resources": tree.ListOf(byGroup[group]), "verbs": tree.ListOf(r.verbs)}
		if len(r.names) > 0 {
			rule["resourceNames"] = tree.ListOf(r.names)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func role(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	r := &ruleFlags{}
	r.add(f)
	return func(g *generated) (tree.Tree, error) {
		rules, err := r.rules(g)
		return tree.Tree{"rules": rules}, err
	}
}

func clusterRole(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	r := &ruleFlags{}
	r.add(f)
	var urls []string
	f.StringSliceVar(&urls, "non-resource-url", nil, "Paths on which instead of types, such as /metrics.")
	aggregation := f.StringToString("aggregation-rule", nil, "Labels of cluster roles of which it is made up.")
	return func(g *generated) (tree.Tree, error) {
		if len(*aggregation) > 0 {
			labels := tree.Tree{}
			for name, value := range *aggregation {
				labels[name] = value
			}
			return tree.Tree{"aggregationRule": tree.Tree{"clusterRoleSelectors": []any{tree.Tree{"matchLabels": labels}}}}, nil
		}
		var rules []any
		if len(urls) > 0 {
			if len(r.verbs) == 0 {
				return nil, usageError("at least one verb must be specified")
			}
			rules = append(rules, tree.Tree{"nonResourceURLs": tree.ListOf(urls), "verbs": tree.ListOf(r.verbs)})
		}
		if len(r.resources) > 0 || len(urls) == 0 {
			more, err := r.rules(g)
			if err != nil {
				return nil, err
			}
			rules = append(more, rules...)
		}
		return tree.Tree{"rules": rules}, nil
	}
}

// podOf is a Pod's template with one container.
func podOf(name, image, restart string, command []string) tree.Tree {
	container := tree.Tree{"name": name, "image": image}
	if len(command) > 0 {
		container["command"] = tree.ListOf(command)
	}
	spec := tree.Tree{"containers": []any{container}}
	if restart != "" {
		spec["restartPolicy"] = restart
	}
	return tree.Tree{"spec": spec}
}

// imageName is the name of a container for an image: its last part without tag or digest.
func imageName(image string) string {
	name := image[strings.LastIndexByte(image, '/')+1:]
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '.' || r == '_' {
			return '-'
		}
		return r
	}, name))
}

func deployment(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	var images []string
	f.StringSliceVar(&images, "image", nil, "Image of a container; may be repeated.")
	replicas, port := f.Int64("replicas", 1, "How many Pods."), f.Int64("port", 0, "Port of the first container; 0 is none.")
	return func(g *generated) (tree.Tree, error) {
		if len(images) == 0 {
			return nil, usageError("required flag(s) \"image\" not set")
		}
		if len(images) > 1 && len(g.args) > 0 {
			return nil, usageError("cannot specify multiple --image options and command")
		}
		labels := func() tree.Tree { return tree.Tree{"app": g.name} }
		var containers []any
		for i, image := range images {
			container := podOf(imageName(image), image, "", g.args).Object("spec").Objects("containers")[0]
			if i == 0 && *port != 0 {
				container["ports"] = []any{tree.Tree{"containerPort": *port}}
			}
			containers = append(containers, container)
		}
		return tree.Tree{"metadata": tree.Tree{"labels": labels()}, "spec": tree.Tree{
			"replicas": *replicas, "selector": tree.Tree{"matchLabels": labels()},
			"template": tree.Tree{"metadata": tree.Tree{"labels": labels()}, "spec": tree.Tree{"containers": containers}},
		}}, nil
	}
}

func job(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	image, from := f.String("image", "", "Image of the container."), f.String("from", "", "Cron job to make one of: cronjob/NAME.")
	return func(g *generated) (tree.Tree, error) {
		if (*image == "") == (*from == "") {
			return nil, usageError("either --image or --from must be specified")
		}
		if *image != "" {
			return tree.Tree{"spec": tree.Tree{"template": podOf(g.name, *image, "Never", g.args)}}, nil
		}
		r, err := g.catalog.Own("batch", "cronjobs")
		if err != nil {
			return nil, err
		}
		word, name, ok := strings.Cut(*from, "/")
		if found, err := g.catalog.Find(word); !ok || err != nil || found.Name != r.Name {
			return nil, usageError("from must be an existing cronjob: cronjob/NAME")
		}
		answer, err := g.get(r, g.Namespace, name)
		if err != nil {
			return nil, err
		}
		t, err := answer.Tree()
		if err != nil {
			return nil, err
		}
		template := t.Object("spec", "jobTemplate")
		annotations := tree.Tree{g.catalog.Naming.Translate("cronjob.platform.io/instantiate"): "manual"}
		for name, v := range template.Object("metadata", "annotations") {
			annotations[name] = v
		}
		m := tree.Tree{"annotations": annotations, "ownerReferences": []any{tree.Tree{
			"apiVersion": r.APIVersion(), "kind": r.Kind, "name": name, "uid": t.Object("metadata").String("uid"), "controller": true,
		}}}
		if labels := template.Object("metadata", "labels"); len(labels) > 0 {
			m["labels"] = labels
		}
		return tree.Tree{"metadata": m, "spec": template.Object("spec")}, nil
	}
}

func cronJob(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	image, schedule := f.String("image", "", "Image of the container."), f.String("schedule", "", "When, as cron has it: minute hour day month weekday.")
	restart := f.String("restart", "OnFailure", "When the container is started again: OnFailure or Never.")
	return func(g *generated) (tree.Tree, error) {
		if *image == "" || *schedule == "" {
			return nil, usageError("required flag(s) \"image\", \"schedule\" not set")
		}
		return tree.Tree{"spec": tree.Tree{"schedule": *schedule, "jobTemplate": tree.Tree{
			"metadata": tree.Tree{"name": g.name}, "spec": tree.Tree{"template": podOf(g.name, *image, *restart, g.args)},
		}}}, nil
	}
}

func service(kind string) func(*pflag.FlagSet) func(*generated) (tree.Tree, error) {
	return func(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
		var tcp []string
		f.StringSliceVar(&tcp, "tcp", nil, "Port and port of the Pods: 80 or 80:8080; may be repeated.")
		address, node := "", int64(0)
		switch kind {
		case "ClusterIP":
			f.StringVar(&address, "clusterip", "", "Address; None for none.")
		case "NodePort":
			f.Int64Var(&node, "node-port", 0, "Port of the nodes.")
		}
		return func(g *generated) (tree.Tree, error) {
			if len(tcp) == 0 && address != "None" {
				return nil, usageError("at least one tcp port specifier must be provided")
			}
			var ports []any
			for _, text := range tcp {
				port, target, mapped := strings.Cut(text, ":")
				n, err := strconv.ParseInt(port, 10, 32)
				if err != nil {
					return nil, usageError(fmt.Sprintf("invalid port %q: it is a number, or two with a colon between", text))
				}
				var to any = n
				if mapped {
					if to = any(target); slices.IndexFunc([]byte(target), func(c byte) bool { return c < '0' || c > '9' }) < 0 {
						to, _ = strconv.ParseInt(target, 10, 64)
					}
				}
				p := tree.Tree{"name": strings.ReplaceAll(text, ":", "-"), "port": n, "targetPort": to, "protocol": "TCP"}
				if node != 0 {
					p["nodePort"] = node
				}
				ports = append(ports, p)
			}
			spec := tree.Tree{"type": kind, "selector": tree.Tree{"app": g.name}, "ports": ports}
			if address != "" {
				spec["clusterIP"] = address
			}
			return tree.Tree{"metadata": tree.Tree{"labels": tree.Tree{"app": g.name}}, "spec": spec}, nil
		}
	}
}

func externalName(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	name := f.String("external-name", "", "The other name.")
	return func(g *generated) (tree.Tree, error) {
		if *name == "" {
			return nil, usageError("required flag(s) \"external-name\" not set")
		}
		return tree.Tree{
			"metadata": tree.Tree{"labels": tree.Tree{"app": g.name}},
			"spec":     tree.Tree{"type": "ExternalName", "externalName": *name, "selector": tree.Tree{"app": g.name}},
		}, nil
	}
}

func ingress(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	var rules []string
	f.StringArrayVar(&rules, "rule", nil, "Where to: host/path=service:port[,tls[=secret]]; a path that ends in * is a prefix; may be repeated.")
	class, fallback := f.String("class", "", "Ingress class."), f.String("default-backend", "", "Where everything else goes: service:port.")
	return func(*generated) (tree.Tree, error) {
		if len(rules) == 0 && *fallback == "" {
			return nil, usageError("not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)")
		}
		spec := tree.Tree{}
		if *class != "" {
			spec["ingressClassName"] = *class
		}
		if *fallback != "" {
			b, err := backend(*fallback)
			if err != nil {
				return nil, err
			}
			spec["defaultBackend"] = b
		}
		hosts := map[string]tree.Tree{}
		for _, text := range rules {
			if err := addRule(spec, hosts, text); err != nil {
				return nil, err
			}
		}
		return tree.Tree{"spec": spec}, nil
	}
}

// addRule adds a rule to the specification of an ingress; hosts are its rules by host.
func addRule(spec tree.Tree, hosts map[string]tree.Tree, text string) error {
	wrong := usageError(fmt.Sprintf("rule %s is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]", text))
	text, options, _ := strings.Cut(text, ",")
	where, to, ok := strings.Cut(text, "=")
	host, path, slash := strings.Cut(where, "/")
	if !ok || !slash {
		return wrong
	}
	b, err := backend(to)
	if err != nil {
		return wrong
	}
	kind := "Exact"
	if prefix, ok := strings.CutSuffix(path, "*"); ok {
		path, kind = prefix, "Prefix"
	}
	rule := hosts[host]
	if rule == nil {
		if rule = (tree.Tree{"http": tree.Tree{}}); host != "" {
			rule["host"] = host
		}
		hosts[host] = rule
		spec["rules"] = append(spec.List("rules"), rule)
	}
	inner := rule.Object("http")
	inner["paths"] = append(inner.List("paths"), tree.Tree{"path": "/" + path, "pathType": kind, "backend": b})
	if name, secret, _ := strings.Cut(options, "="); name == "tls" {
		t := tree.Tree{}
		if host != "" {
			t["hosts"] = []any{host}
		}
		if secret != "" {
			t["secretName"] = secret
		}
		spec["tls"] = append(spec.List("tls"), t)
	} else if options != "" {
		return wrong
	}
	return nil
}

// backend is a port of a service: service:80 or service:name.
func backend(text string) (tree.Tree, error) {
	name, port, ok := strings.Cut(text, ":")
	if !ok || name == "" || port == "" {
		return nil, usageError("default-backend should be in format servicename:serviceport")
	}
	p := tree.Tree{"name": port}
	if n, err := strconv.ParseInt(port, 10, 32); err == nil {
		p = tree.Tree{"number": n}
	}
	return tree.Tree{"service": tree.Tree{"name": name, "port": p}}, nil
}

func quota(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	var hard, scopes []string
	f.StringSliceVar(&hard, "hard", nil, "Most of a resource: pods=10,requests.cpu=4.")
	f.StringSliceVar(&scopes, "scopes", nil, "Scopes of what counts.")
	return func(*generated) (tree.Tree, error) {
		spec := tree.Tree{}
		for _, text := range hard {
			name, amount, ok := strings.Cut(text, "=")
			if !ok || name == "" || amount == "" {
				return nil, usageError(fmt.Sprintf("invalid argument syntax %v, expected <resource>=<value>", text))
			}
			spec.EnsureObject("hard")[name] = amount
		}
		if len(scopes) > 0 {
			spec["scopes"] = tree.ListOf(scopes)
		}
		return tree.Tree{"spec": spec}, nil
	}
}

func disruptionBudget(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	selector := f.String("selector", "", "Labels of the Pods: app=web.")
	least, most := f.String("min-available", "", "How many Pods stay, or how many in a hundred."), f.String("max-unavailable", "", "How many may be gone.")
	return func(*generated) (tree.Tree, error) {
		if *selector == "" {
			return nil, usageError("a selector must be specified")
		}
		if (*least == "") == (*most == "") {
			return nil, usageError("one of min-available or max-unavailable must be specified")
		}
		labels := tree.Tree{}
		for requirement := range strings.SplitSeq(*selector, ",") {
			name, value, ok := strings.Cut(requirement, "=")
			if !ok {
				return nil, usageError("the selector of a budget is made of key=value here; write others into a file")
			}
			labels[name] = strings.TrimPrefix(value, "=")
		}
		spec := tree.Tree{"selector": tree.Tree{"matchLabels": labels}}
		for field, text := range map[string]string{"minAvailable": *least, "maxUnavailable": *most} {
			if n, err := strconv.ParseInt(text, 10, 32); err == nil {
				spec[field] = n
			} else if text != "" {
				spec[field] = text
			}
		}
		return tree.Tree{"spec": spec}, nil
	}
}

func priorityClass(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	value, fallback := f.Int64("value", 0, "The priority."), f.Bool("global-default", false, "For Pods that name no class.")
	description, preemption := f.String("description", "", "What it is for."), f.String("preemption-policy", "PreemptLowerPriority", "Never, or PreemptLowerPriority.")
	return func(*generated) (tree.Tree, error) {
		return tree.Tree{"value": *value, "globalDefault": *fallback, "description": *description, "preemptionPolicy": *preemption}, nil
	}
}
