package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
)

func rollout(f *connectionFlags) *cobra.Command {
	c := &cobra.Command{Use: "rollout", Short: "Follow, repeat and undo rollouts of workloads", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(rolloutStatus(f), rolloutHistory(f), rolloutUndo(f), rolloutRestart(f), rolloutPause(f, true), rolloutPause(f, false))
	return c
}

// workloads are the objects that a rollout command is about: those with a template of Pods.
func (s *session) workloads(o *targetFlags, args []string) ([]object, error) {
	selections, _, err := s.selections(o, args)
	if err != nil {
		return nil, err
	}
	objects, err := s.find(o, selections)
	if err != nil {
		return nil, err
	}
	for _, one := range objects {
		if one.tree.Object("spec", "template") == nil {
			return nil, fmt.Errorf("%s has no template of Pods, so nothing is rolled out for it", one)
		}
	}
	return objects, nil
}

func rolloutStatus(f *connectionFlags) *cobra.Command {
	o := &targetFlags{}
	watch, timeout := true, time.Duration(0)
	c := &cobra.Command{Use: "status TYPE NAME | TYPE/NAME", Short: "Follow a rollout to its end", ValidArgsFunction: f.completeObjects("watch")}
	o.addFiles(c)
	c.Flags().BoolVarP(&watch, "watch", "w", true, "Wait for the end.")
	c.Flags().DurationVar(&timeout, "timeout", 0, "Longest time to wait; 0 is for ever.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		objects, err := s.workloads(o, args)
		if err != nil {
			return err
		}
		ctx := s.ctx
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		for _, one := range objects {
			err := s.until(ctx, one.resource, one.namespace(), one.name(), func(t tree.Tree) (bool, error) {
				if t == nil {
					return false, fmt.Errorf("%s was deleted", one)
				}
				words, done, err := progress(one.resource.Name, t)
				if err == nil {
					s.printf("%s\n", words)
				}
				return done || !watch, err
			})
			if errors.Is(err, context.DeadlineExceeded) && s.ctx.Err() == nil {
				err = errors.New("timed out waiting for the condition")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return c
}

// progress is how far a rollout is.
func progress(resource string, t tree.Tree) (words string, done bool, err error) {
	spec, status := t.Object("spec"), t.Object("status")
	name := t.Object("metadata").String("name")
	n := func(t tree.Tree, field string) int64 { v, _ := t.Int(field); return v }
	if n(t.Object("metadata"), "generation") > n(status, "observedGeneration") {
		return fmt.Sprintf("Waiting for %s spec update to be observed...", resource[:len(resource)-1]), false, nil
	}
	switch resource {
	case "daemonsets":
		desired := n(status, "desiredNumberScheduled")
		if updated := n(status, "updatedNumberScheduled"); updated < desired {
			return fmt.Sprintf("Waiting for daemon set %q rollout to finish: %d out of %d new pods have been updated...", name, updated, desired), false, nil
		}
		if available := n(status, "numberAvailable"); available < desired {
			return fmt.Sprintf("Waiting for daemon set %q rollout to finish: %d of %d updated pods are available...", name, available, desired), false, nil
		}
		return fmt.Sprintf("daemon set %q successfully rolled out", name), true, nil
	case "statefulsets":
		replicas := n(spec, "replicas")
		if ready := n(status, "readyReplicas"); ready < replicas {
			return fmt.Sprintf("Waiting for %d pods to be ready...", replicas-ready), false, nil
		}
		partition := n(spec.Object("updateStrategy", "rollingUpdate"), "partition")
		if updated := n(status, "updatedReplicas"); updated < replicas-partition && status.String("updateRevision") != status.String("currentRevision") {
			return fmt.Sprintf("Waiting for partitioned roll out to finish: %d out of %d new pods have been updated...", updated, replicas-partition), false, nil
		}
		return fmt.Sprintf("partitioned roll out complete: %d new pods have been updated...", n(status, "updatedReplicas")), true, nil
	}
	for _, c := range status.Objects("conditions") {
		if c.String("type") == "Progressing" && c.String("reason") == "ProgressDeadlineExceeded" {
			return "", false, fmt.Errorf("%s %q exceeded its progress deadline", resource[:len(resource)-1], name)
		}
	}
	replicas, updated, available := n(spec, "replicas"), n(status, "updatedReplicas"), n(status, "availableReplicas")
	switch total := n(status, "replicas"); {
	case updated < replicas:
		return fmt.Sprintf("Waiting for deployment %q rollout to finish: %d out of %d new replicas have been updated...", name, updated, replicas), false, nil
	case total > updated:
		return fmt.Sprintf("Waiting for deployment %q rollout to finish: %d old replicas are pending termination...", name, total-updated), false, nil
	case available < updated:
		return fmt.Sprintf("Waiting for deployment %q rollout to finish: %d of %d updated replicas are available...", name, available, updated), false, nil
	}
	return fmt.Sprintf("deployment %q successfully rolled out", name), true, nil
}

// A revision is one state of the template of a workload that is remembered.
type revision struct {
	number int64
	cause  string
	// patch is what makes the workload of that revision again.
	patch tree.Tree
}

// revisions are those of a workload, the oldest first: its ReplicaSets, or its ControllerRevisions.
func (s *session) revisions(one object) (all []revision, err error) {
	c, err := s.served()
	if err != nil {
		return nil, err
	}
	name := "controllerrevisions"
	if one.resource.Name == "deployments" {
		name = "replicasets"
	}
	r, err := c.Own("apps", name)
	if err != nil {
		return nil, err
	}
	owned, err := s.list(r, one.namespace(), nil)
	if err != nil {
		return nil, err
	}
	domain := c.Naming.Translate("deployment.platform.io/revision")
	cause := c.Naming.Translate("platform.io/change-cause")
	for _, o := range owned {
		if !slices.ContainsFunc(o.tree.Object("metadata").Objects("ownerReferences"), func(ref tree.Tree) bool {
			return ref.String("uid") == one.tree.Object("metadata").String("uid")
		}) {
			continue
		}
		annotations := o.tree.Object("metadata", "annotations")
		v := revision{cause: annotations.String(cause)}
		if name == "replicasets" {
			v.number, _ = strconv.ParseInt(annotations.String(domain), 10, 64)
			template := tree.Clone(o.tree.Object("spec", "template")).(tree.Tree)
			delete(template.Object("metadata", "labels"), "pod-template-hash")
			v.patch = tree.Tree{"spec": tree.Tree{"template": template}}
		} else {
			v.number, _ = o.tree.Int("revision")
			v.patch = o.tree.Object("data")
		}
		if v.number > 0 {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b revision) int { return int(a.number - b.number) })
	return all, nil
}

func rolloutHistory(f *connectionFlags) *cobra.Command {
	o := &targetFlags{}
	number := int64(0)
	c := &cobra.Command{Use: "history TYPE NAME | TYPE/NAME", Short: "List the revisions of workloads", ValidArgsFunction: f.completeObjects("get")}
	o.addFiles(c)
	c.Flags().Int64Var(&number, "revision", 0, "Show this revision in detail.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		objects, err := s.workloads(o, args)
		if err != nil {
			return err
		}
		for _, one := range objects {
			all, err := s.revisions(one)
			if err != nil {
				return err
			}
			if number > 0 {
				i := slices.IndexFunc(all, func(r revision) bool { return r.number == number })
				if i < 0 {
					return fmt.Errorf("unable to find the specified revision %d of %s", number, one)
				}
				s.printf("%s with revision #%d\n%s", one, number, document.YAML(all[i].patch.Object("spec", "template")))
				continue
			}
			s.printf("%s \n", one)
			if len(all) == 0 {
				s.printf("No rollout history found.\n")
				continue
			}
			grid := &printer.Grid{}
			grid.Row("REVISION", "CHANGE-CAUSE")
			for _, r := range all {
				cause := r.cause
				if cause == "" {
					cause = "<none>"
				}
				grid.Row(fmt.Sprint(r.number), cause)
			}
			if err := grid.Flush(s.out); err != nil {
				return err
			}
			s.printf("\n")
		}
		return nil
	})
	return c
}

func rolloutUndo(f *connectionFlags) *cobra.Command {
	o := &targetFlags{}
	var dry dryRun
	to := int64(0)
	c := &cobra.Command{Use: "undo TYPE NAME | TYPE/NAME", Short: "Go back to an earlier revision", ValidArgsFunction: f.completeObjects("patch")}
	o.addFiles(c)
	addDryRun(c, &dry)
	c.Flags().Int64Var(&to, "to-revision", 0, "Revision to go back to; 0 is the one before.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		objects, err := s.workloads(o, args)
		if err != nil {
			return err
		}
		for _, one := range objects {
			if one.tree.Object("spec").Bool("paused") {
				return fmt.Errorf("%s is paused: resume it first (troupe rollout resume)", one)
			}
			if err := s.undo(one, to, dry); err != nil {
				return err
			}
		}
		return nil
	})
	return c
}

func (s *session) undo(one object, to int64, dry dryRun) error {
	all, err := s.revisions(one)
	if err != nil {
		return err
	}
	i := len(all) - 2
	if to > 0 {
		i = slices.IndexFunc(all, func(r revision) bool { return r.number == to })
	}
	switch {
	case i < 0 && to > 0:
		return fmt.Errorf("unable to find specified revision %d in history", to)
	case i < 0:
		return errors.New("no rollout history found: there is no revision before this one")
	}
	var changed object
	if one.resource.Name == "deployments" { // the whole template, so that nothing of the newer one stays
		patch := document.JSON([]any{tree.Tree{"op": "replace", "path": "/spec/template", "value": all[i].patch.Object("spec", "template")}})
		changed, err = s.sendPatch(one.path(), rest.JSONPatch, patch, fieldManager, dry)
	} else { // which holds $patch: replace
		changed, err = s.sendPatch(one.path(), rest.StrategicPatch, document.JSON(all[i].patch), fieldManager, dry)
	}
	if err != nil {
		return err
	}
	words := "rolled back"
	if tree.StrictEqual(changed.tree.Object("spec", "template"), one.tree.Object("spec", "template")) {
		words = fmt.Sprintf("skipped rollback (current template already matches revision %d)", all[i].number)
	}
	s.printf("%s %s%s\n", one, words, dry.suffix())
	return nil
}

func rolloutRestart(f *connectionFlags) *cobra.Command {
	o := &targetFlags{}
	var print printer.Options
	c := &cobra.Command{Use: "restart TYPE NAME | TYPE/NAME", Short: "Replace all Pods of workloads", ValidArgsFunction: f.completeObjects("patch")}
	o.addFiles(c)
	addOutput(c, &print)
	c.Flags().StringVarP(&o.selector, "selector", "l", "", "Label selector.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		objects, err := s.workloads(o, args)
		if err != nil {
			return err
		}
		for _, one := range objects {
			if one.tree.Object("spec").Bool("paused") {
				return fmt.Errorf("%s is paused: resume it first (troupe rollout resume)", one)
			}
			annotation := tree.Tree{s.catalog.Naming.Translate("troupe.platform.io/restartedAt"): time.Now().UTC().Format(time.RFC3339)}
			changed, err := s.mergePatch(one, tree.Tree{"spec": tree.Tree{"template": tree.Tree{"metadata": tree.Tree{"annotations": annotation}}}}, dryRunNone)
			if err != nil {
				return err
			}
			if err := s.printAs(print, changed, "restarted"); err != nil {
				return err
			}
		}
		return nil
	})
	return c
}

func rolloutPause(f *connectionFlags, pause bool) *cobra.Command {
	o := &targetFlags{}
	c := &cobra.Command{Use: "resume TYPE NAME | TYPE/NAME", Short: "Go on with a rollout that was paused", ValidArgsFunction: f.completeObjects("patch")}
	words := "resumed"
	if pause {
		c.Use, c.Short, words = "pause TYPE NAME | TYPE/NAME", "Keep changes of a workload from being rolled out", "paused"
	}
	o.addFiles(c)
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		objects, err := s.workloads(o, args)
		if err != nil {
			return err
		}
		for _, one := range objects {
			if one.resource.Name != "deployments" {
				return fmt.Errorf("%s cannot be paused: only deployments can", one)
			}
			if one.tree.Object("spec").Bool("paused") == pause {
				return fmt.Errorf("%s is already %s", one, map[bool]string{true: "paused", false: "running"}[pause])
			}
			if _, err := s.mergePatch(one, tree.Tree{"spec": tree.Tree{"paused": pause}}, dryRunNone); err != nil {
				return err
			}
			s.printf("%s %s\n", one, words)
		}
		return nil
	})
	return c
}
