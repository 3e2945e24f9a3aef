package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

type deleteOptions struct {
	targetFlags
	DryRun                           dryRun
	Cascade, Output                  string
	GracePeriod                      int64 // seconds; negative uses the object's own
	Wait, Force, Now, IgnoreNotFound bool
	Timeout                          time.Duration
}

// check rejects conflicting flags and applies --now and --force.
func (o *deleteOptions) check() error {
	switch {
	case o.Output != "" && o.Output != "name":
		return usageError(fmt.Sprintf("unexpected -o output mode: %v. We only support '-o name'", o.Output))
	case o.Now && o.GracePeriod >= 0:
		return usageError("--now and --grace-period cannot be specified together")
	case o.GracePeriod == 0 && !o.Force:
		o.GracePeriod = 1
	case o.Force && o.GracePeriod > 0:
		return usageError("--force and --grace-period greater than 0 cannot be specified together")
	}
	if o.Now {
		o.GracePeriod = 1
	}
	if o.Force {
		o.GracePeriod = 0
	}
	_, err := o.propagation()
	return err
}

func (o *deleteOptions) propagation() (string, error) {
	switch o.Cascade {
	case "background", "true", "":
		return "Background", nil
	case "foreground":
		return "Foreground", nil
	case "orphan", "false":
		return "Orphan", nil
	}
	return "", usageError(fmt.Sprintf("invalid cascade value (%s). Must be \"background\", \"foreground\", or \"orphan\"", o.Cascade))
}

func (o *deleteOptions) run(s *session, args []string) error {
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
	if o.Force && o.DryRun == dryRunNone {
		s.notef("Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n")
	}
	targets, err := s.targetsOf(&o.targetFlags, selections)
	faults := []error{err}
	var gone []deleted
	for _, t := range targets {
		if o.DryRun != dryRunClient {
			uid, err := s.deleteNamed(t, o)
			if rest.IsNotFound(err) && (o.IgnoreNotFound || t.found) {
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
	if o.Wait && o.DryRun == dryRunNone && !o.Force {
		faults = append(faults, s.awaitGone(o, gone))
	}
	if len(targets) == 0 && err == nil && !o.IgnoreNotFound {
		s.printf("No resources found\n")
	}
	return errors.Join(faults...)
}

type target struct {
	resource        *discovery.Resource
	namespace, name string
	source          string // the source file
	found           bool   // found by listing
}

func (t target) path() string { return t.resource.Path(t.namespace, t.name) }

func (t target) String() string { return t.resource.TypeName() + "/" + t.name }

// A deleted is a target whose deletion the server has accepted.
type deleted struct {
	target
	uid string
}

// targetsOf returns the named objects of the selections. It lists the objects of selections without
// names.
func (s *session) targetsOf(f *targetFlags, selections []selection) (all []target, err error) {
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
		found, err := s.list(one.resource, one.namespace, f.query())
		faults = append(faults, err)
		for _, o := range found {
			all = append(all, target{resource: one.resource, namespace: o.namespace(), name: o.name(), found: true})
		}
	}
	return all, errors.Join(faults...)
}

func (s *session) printDeleted(o *deleteOptions, t target) {
	if o.Output == "name" {
		s.printf("%s\n", t)
		return
	}
	how, where := "deleted", ""
	if o.Force {
		how = "force deleted"
	}
	if t.namespace != "" {
		where = " from " + t.namespace + " namespace"
	}
	s.printf("%s %q %s%s%s\n", t.resource.TypeName(), t.name, how, where, o.DryRun.suffix())
}

func (s *session) deleteNamed(t target, o *deleteOptions) (uid string, err error) {
	propagation, err := o.propagation()
	if err != nil {
		return "", err
	}
	options := tree.Tree{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation}
	if o.GracePeriod >= 0 {
		options["gracePeriodSeconds"] = o.GracePeriod
	}
	q := url.Values{}
	if o.DryRun == dryRunServer {
		q.Set("dryRun", "All")
	}
	body, err := s.tree(s.ctx, rest.Request{Method: http.MethodDelete, Path: t.path(), Query: q, Body: document.JSON(options)})
	if err != nil {
		return "", err
	}
	if body.String("kind") == "Status" {
		return body.Object("details").String("uid"), nil
	}
	return body.Object("metadata").String("uid"), nil
}

func (s *session) awaitGone(o *deleteOptions, all []deleted) error {
	ctx := s.ctx
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
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

func (s *session) untilGone(ctx context.Context, r *discovery.Resource, namespace, name, uid string) error {
	return s.until(ctx, r, namespace, name, func(o tree.Tree) (bool, error) {
		return o == nil || uid != "" && o.Object("metadata").String("uid") != uid, nil
	})
}
