package client

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

// podOf returns a Pod template with one container.
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

// imageName returns a container name for an image: its last path segment without tag or digest.
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
	f.StringSliceVar(&images, "image", nil, "Container image; may be repeated.")
	replicas, port := f.Int64("replicas", 1, "Number of replicas."), f.Int64("port", 0, "Port of the first container; 0 for none.")
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
