package client

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

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
