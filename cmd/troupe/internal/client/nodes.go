package client

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/kinds/tree"
)

// cordon is the command that keeps Pods from nodes, or lets them there again.
func cordon(f *connectionFlags, keep bool) *cobra.Command {
	c := &cobra.Command{Use: "cordon NODE…", Short: "Keep new Pods from nodes"}
	if !keep {
		c.Use, c.Short = "uncordon NODE…", "Let new Pods to nodes again"
	}
	var dry dryRun
	addDryRun(c, &dry)
	c.Args, c.ValidArgsFunction = cobra.MinimumNArgs(1), f.completeNamesOf("nodes")
	c.RunE = f.run(func(s *session, args []string) error {
		return s.eachNode(args, func(one object) error { return s.cordonOne(one, keep, dry) })
	})
	return c
}

// cordonOne keeps new Pods from a node, or lets them there again.
func (s *session) cordonOne(node object, keep bool, dry dryRun) error {
	words := "cordoned"
	var value any = true
	if !keep {
		words, value = "uncordoned", nil // absent
	}
	if node.tree.Object("spec").Bool("unschedulable") == keep {
		s.printf("%s already %s\n", node, words)
		return nil
	}
	if _, err := s.mergePatch(node, tree.Tree{"spec": tree.Tree{"unschedulable": value}}, dry); err != nil {
		return err
	}
	s.printf("%s %s%s\n", node, words, dry.suffix())
	return nil
}

// eachNode does something with each of some nodes.
func (s *session) eachNode(names []string, do func(object) error) error {
	c, err := s.served()
	if err != nil {
		return err
	}
	r, err := c.Own("", "nodes")
	if err != nil {
		return err
	}
	objects, err := s.find(&targetFlags{}, []selection{{resource: r, names: names}})
	faults := unjoin(err)
	for _, one := range objects {
		faults = append(faults, unjoin(do(one))...)
	}
	return errors.Join(faults...)
}

func taint(f *connectionFlags) *cobra.Command {
	overwrite := false
	var dry dryRun
	c := &cobra.Command{
		Use: "taint nodes NAME… KEY=VALUE:EFFECT… KEY:EFFECT-…", Short: "Set and remove taints of nodes",
		Example: "  troupe taint nodes n1 dedicated=batch:NoSchedule\n  troupe taint nodes n1 dedicated-", ValidArgsFunction: f.completeObjects("patch"),
	}
	addDryRun(c, &dry)
	c.Flags().BoolVar(&overwrite, "overwrite", false, "Change values that are set already.")
	c.RunE = f.run(func(s *session, args []string) error {
		if len(args) > 0 {
			switch args[0] {
			case "node", "nodes", "no":
				args = args[1:]
			}
		}
		var names, changes []string
		for _, arg := range args {
			if strings.ContainsAny(arg, ":=") || strings.HasSuffix(arg, "-") {
				changes = append(changes, arg)
			} else {
				names = append(names, strings.TrimPrefix(strings.TrimPrefix(arg, "node/"), "nodes/"))
			}
		}
		if len(names) == 0 || len(changes) == 0 {
			return usageError("at least one node and one taint update are required: troupe taint nodes NAME KEY=VALUE:EFFECT, or KEY- to remove")
		}
		return s.eachNode(names, func(one object) error {
			taints, words, err := tainted(one, changes, overwrite)
			if err != nil {
				return err
			}
			patch := tree.Tree{"metadata": tree.Tree{"resourceVersion": one.tree.Object("metadata").String("resourceVersion")}, "spec": tree.Tree{"taints": taints}}
			if _, err := s.mergePatch(one, patch, dry); err != nil {
				return err
			}
			s.printf("%s %s%s\n", one, words, dry.suffix())
			return nil
		})
	})
	return c
}

// tainted are the taints of a node after changes, and what became of them.
func tainted(one object, changes []string, overwrite bool) (taints []any, words string, err error) {
	taints, words = append([]any{}, one.tree.Object("spec").List("taints")...), "untainted"
	for _, change := range changes {
		text, remove := strings.CutSuffix(change, "-")
		text, effect, _ := strings.Cut(text, ":")
		key, value, _ := strings.Cut(text, "=")
		if !remove && effect == "" {
			return nil, "", usageError(fmt.Sprintf("invalid taint spec: %v; it is KEY=VALUE:EFFECT, where the effect is NoSchedule, PreferNoSchedule or NoExecute", change))
		}
		found := false
		kept := []any{}
		for _, t := range taints {
			have, _ := t.(tree.Tree)
			same := have.String("key") == key && (effect == "" || have.String("effect") == effect)
			if found = found || same; !same {
				kept = append(kept, t)
			} else if !remove && !overwrite {
				return nil, "", fmt.Errorf("node %s already has %s taint(s) with same effect(s) and --overwrite is false", one.name(), key)
			}
		}
		if remove && !found {
			return nil, "", fmt.Errorf("taint %q not found", text)
		}
		if taints = kept; !remove {
			added := tree.Tree{"key": key, "effect": effect}
			if value != "" {
				added["value"] = value
			}
			taints, words = append(taints, added), "tainted"
		}
	}
	return taints, words, nil
}
