package client

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

func service(kind string) func(*pflag.FlagSet) func(*generated) (tree.Tree, error) {
	return func(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
		var tcp []string
		f.StringSliceVar(&tcp, "tcp", nil, "Port, or port and target port: 80 or 80:8080; may be repeated.")
		address, node := "", int64(0)
		switch kind {
		case "ClusterIP":
			f.StringVar(&address, "clusterip", "", "Cluster IP; None for a headless service.")
		case "NodePort":
			f.Int64Var(&node, "node-port", 0, "Port on each node.")
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
					return nil, usageError(fmt.Sprintf("invalid port %q: must be PORT or PORT:TARGETPORT", text))
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
