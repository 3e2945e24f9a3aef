package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

type deleteOptions struct {
	dryRun  dryRun
	cascade string
	grace   int64 // seconds; negative uses the object's own
}

type deleteFlags struct {
	targetFlags
	deleteOptions
	wait, force, now, ignoreNotFound bool
	timeout                          time.Duration
	output                           string
}

func deleteCommand(f *connectionFlags) *cobra.Command {
	o := &deleteFlags{}
	c := &cobra.Command{
		Use:   "delete TYPE NAME… | TYPE/NAME… | TYPE -l SELECTOR | TYPE --all | -f FILE",
		Short: "Delete objects",
		Example: `  troupe delete pod web
  troupe delete pods,services -l app=web
  troupe delete -f app.yaml --wait=false`,
		ValidArgsFunction: f.completeObjects("delete"),
	}
	o.addFiles(c)
	o.addSelectors(c)
	addDryRun(c, &o.dryRun)
	flags := c.Flags()
	flags.BoolVar(&o.all, "all", false, "Select all objects of the resource types.")
	flags.BoolVar(&o.wait, "wait", true, "Wait until the objects are gone.")
	flags.BoolVar(&o.force, "force", false, "Delete immediately, without graceful termination.")
	flags.BoolVar(&o.now, "now", false, "Terminate gracefully within one second.")
	flags.BoolVar(&o.ignoreNotFound, "ignore-not-found", false, "Ignore objects that do not exist.")
	flags.DurationVar(&o.timeout, "timeout", 0, "Time to wait; 0 waits forever.")
	flags.Int64Var(&o.grace, "grace-period", -1, "Termination grace period in seconds; negative uses the period of the object.")
	flags.StringVar(&o.cascade, "cascade", "background", "Deletion of dependents: background, foreground, or orphan.")
	flags.StringVarP(&o.output, "output", "o", "", "Output format: name prints only names.")
	must(c.RegisterFlagCompletionFunc("cascade", fixed("background", "foreground", "orphan")))
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error { return s.delete(o, args) })
	return c
}

// check rejects conflicting flags, and resolves --now and --force.
func (o *deleteFlags) check() error {
	switch {
	case o.output != "" && o.output != "name":
		return usageError(fmt.Sprintf("unexpected -o output mode: %v. We only support '-o name'", o.output))
	case o.now && o.grace >= 0:
		return usageError("--now and --grace-period cannot be specified together")
	case o.grace == 0 && !o.force:
		o.grace = 1
	case o.force && o.grace > 0:
		return usageError("--force and --grace-period greater than 0 cannot be specified together")
	}
	if o.now {
		o.grace = 1
	}
	if o.force {
		o.grace = 0
	}
	_, err := o.propagation()
	return err
}

func (o deleteOptions) propagation() (string, error) {
	switch o.cascade {
	case "background", "true", "":
		return "Background", nil
	case "foreground":
		return "Foreground", nil
	case "orphan", "false":
		return "Orphan", nil
	}
	return "", usageError(fmt.Sprintf("invalid cascade value (%s). Must be \"background\", \"foreground\", or \"orphan\"", o.cascade))
}

func (s *session) delete(o *deleteFlags, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	selections, _, err := s.selections(&o.targetFlags, args)
	if err != nil {
		return err
	}
	if err := o.checkNamed(selections); err != nil {
		return err
	}
	if o.force && o.dryRun == dryRunNone {
		s.notef("Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n")
	}
	targets, err := s.targetsOf(o, selections)
	faults := unjoin(err)
	var gone []deleted
	for _, t := range targets {
		if o.dryRun != dryRunClient {
			uid, err := s.deleteNamed(t, o.deleteOptions)
			if rest.IsNotFound(err) && (o.ignoreNotFound || t.found) {
				continue
			}
			if err != nil {
				faults = append(faults, &sourced{"deleting", t.source, err})
				continue
			}
			gone = append(gone, deleted{t, uid})
		}
		s.printDeleted(o, t)
	}
	if o.wait && o.dryRun == dryRunNone && !o.force {
		faults = append(faults, unjoin(s.awaitGone(o, gone))...)
	}
	if len(targets) == 0 && len(faults) == 0 && !o.ignoreNotFound {
		s.printf("No resources found\n")
	}
	return errors.Join(faults...)
}

type target struct {
	resource        *discovery.Resource
	namespace, name string
	source          string // the file that names it
	found           bool   // by listing
}

func (t target) path() string { return t.resource.Path(t.namespace, t.name) }

// A deleted is a target whose deletion the server has accepted.
type deleted struct {
	target
	uid string
}

// targetsOf returns the named objects of selections, and lists those without names.
func (s *session) targetsOf(o *deleteFlags, selections []selection) (all []target, err error) {
	var faults []error
	for _, one := range selections {
		for _, name := range one.names {
			t := target{resource: one.resource, namespace: one.namespace, name: name}
			if one.manifest != nil {
				t.source = one.manifest.Source
			}
			all = append(all, t)
		}
		if len(one.names) > 0 {
			continue
		}
		found, err := s.list(one.resource, one.namespace, o.query())
		faults = append(faults, unjoin(err)...)
		for _, f := range found {
			all = append(all, target{resource: one.resource, namespace: f.namespace(), name: f.name(), found: true})
		}
	}
	return all, errors.Join(faults...)
}

func (s *session) printDeleted(o *deleteFlags, t target) {
	if o.output == "name" {
		s.printf("%s/%s\n", t.resource.TypeName(), t.name)
		return
	}
	how, where := "deleted", ""
	if o.force {
		how = "force deleted"
	}
	if t.namespace != "" {
		where = " from " + t.namespace + " namespace"
	}
	s.printf("%s %q %s%s%s\n", t.resource.TypeName(), t.name, how, where, o.dryRun.suffix())
}

// deleteNamed deletes an object and returns its UID.
func (s *session) deleteNamed(t target, o deleteOptions) (uid string, err error) {
	propagation, err := o.propagation()
	if err != nil {
		return "", err
	}
	options := tree.Tree{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation}
	if o.grace >= 0 {
		options["gracePeriodSeconds"] = o.grace
	}
	q := url.Values{}
	if o.dryRun == dryRunServer {
		q.Set("dryRun", "All")
	}
	answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodDelete, Path: t.path(), Query: q, Body: document.JSON(options)})
	if err != nil {
		return "", err
	}
	body, err := answer.Tree()
	if err != nil {
		return "", err
	}
	if body.String("kind") == "Status" {
		return body.Object("details").String("uid"), nil
	}
	return body.Object("metadata").String("uid"), nil
}

// awaitGone waits until all objects are gone or replaced.
func (s *session) awaitGone(o *deleteFlags, all []deleted) error {
	ctx := s.ctx
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	var faults []error
	for _, one := range all {
		err := s.untilGone(ctx, one.resource, one.namespace, one.name, one.uid)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			faults = append(faults, fmt.Errorf("timed out waiting for the condition on %s/%s: it is terminating, but has finalizers", one.resource.Name, one.name))
		case err != nil:
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// untilGone waits until an object is gone, or replaced by one with another UID.
func (s *session) untilGone(ctx context.Context, r *discovery.Resource, namespace, name, uid string) error {
	return s.until(ctx, r, namespace, name, func(o tree.Tree) (bool, error) {
		return o == nil || uid != "" && o.Object("metadata").String("uid") != uid, nil
	})
}
