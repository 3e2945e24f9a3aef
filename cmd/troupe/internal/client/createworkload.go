package client

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

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
