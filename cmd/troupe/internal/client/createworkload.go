package client

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// imageName returns a container name for an image: the last path segment without tag and digest.
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

type deployment struct {
	Image          []string
	Replicas, Port int64
}

func (o *deployment) build(g *generated) (tree.Tree, error) {
	if len(o.Image) == 0 {
		return nil, usageError("required flag(s) \"image\" not set")
	}
	labels := func() tree.Tree { return tree.Tree{"app": g.name} }
	var containers []any
	for i, image := range o.Image {
		container := tree.Tree{"name": imageName(image), "image": image}
		if i == 0 && o.Port != 0 {
			container["ports"] = []any{tree.Tree{"containerPort": o.Port}}
		}
		containers = append(containers, container)
	}
	return tree.Tree{"metadata": tree.Tree{"labels": labels()}, "spec": tree.Tree{
		"replicas": o.Replicas, "selector": tree.Tree{"matchLabels": labels()},
		"template": tree.Tree{"metadata": tree.Tree{"labels": labels()}, "spec": tree.Tree{"containers": containers}},
	}}, nil
}
