package client

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

type service struct {
	TCP       []string
	ClusterIP string
	NodePort  int64
	kind      string
}

func (o *service) build(g *generated) (tree.Tree, error) {
	if len(o.TCP) == 0 && o.ClusterIP != "None" {
		return nil, usageError("at least one tcp port specifier must be provided")
	}
	var ports []any
	for _, text := range o.TCP {
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
		if o.NodePort != 0 {
			p["nodePort"] = o.NodePort
		}
		ports = append(ports, p)
	}
	spec := tree.Tree{"type": o.kind, "selector": tree.Tree{"app": g.name}, "ports": ports}
	if o.ClusterIP != "" {
		spec["clusterIP"] = o.ClusterIP
	}
	return tree.Tree{"metadata": tree.Tree{"labels": tree.Tree{"app": g.name}}, "spec": spec}, nil
}
