package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// drainOptions say what may be taken from a node, and how.
type drainOptions struct {
	ignoreDaemonSets, deleteEmptyDirs, force, disableEviction bool
	podSelector                                               string
	grace                                                     int64
	timeout                                                   time.Duration
	dryRun                                                    dryRun
}

func drain(f *connectionFlags) *cobra.Command {
	o := &drainOptions{}
	c := &cobra.Command{
		Use:   "drain NODE…",
		Short: "Move Pods away from nodes, as before work on them",
		Long: `Move Pods away from nodes: new ones are kept from them, and those that are there are evicted,
as far as budgets of disruptions allow it at the time. Those that nobody would replace, or whose
data would be lost, are named first, and nothing is evicted unless a flag says so.`,
		Example:           "  troupe drain n1 --ignore-daemonsets",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: f.completeNamesOf("nodes"),
	}
	addDryRun(c, &o.dryRun)
	flags := c.Flags()
	flags.BoolVar(&o.ignoreDaemonSets, "ignore-daemonsets", false, "Leave the Pods of DaemonSets, which tolerate that the node is closed.")
	flags.BoolVar(&o.deleteEmptyDirs, "delete-emptydir-data", false, "Evict Pods with emptyDir volumes, whose data is lost.")
	flags.BoolVar(&o.force, "force", false, "Evict Pods that nobody controls, and so nobody replaces.")
	flags.BoolVar(&o.disableEviction, "disable-eviction", false, "Delete instead of evict, which asks no budget.")
	flags.StringVar(&o.podSelector, "pod-selector", "", "Label selector of the Pods to move.")
	flags.Int64Var(&o.grace, "grace-period", -1, "Seconds for Pods to end; negative: as they say.")
	flags.DurationVar(&o.timeout, "timeout", 0, "Longest time; 0 is for ever.")
	c.RunE = f.run(func(s *session, args []string) error {
		if o.timeout > 0 {
			ctx, cancel := context.WithTimeout(s.ctx, o.timeout)
			defer cancel()
			s.ctx = ctx
		}
		return s.eachNode(args, func(node object) error {
			if err := s.cordonOne(node, true, o.dryRun); err != nil {
				return err
			}
			err := s.drainOne(o, node)
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("%s is not empty after %s", node, o.timeout)
			}
			return err
		})
	})
	return c
}

// drainOne moves the Pods of a node that is closed.
func (s *session) drainOne(o *drainOptions, node object) error {
	pods, err := s.catalog.Own("", "pods")
	if err != nil {
		return err
	}
	q := url.Values{"fieldSelector": {"spec.nodeName=" + node.name()}}
	if o.podSelector != "" {
		q.Set("labelSelector", o.podSelector)
	}
	found, err := s.list(pods, "", q)
	if err != nil {
		return err
	}
	moved, err := s.chooseEvicted(o, found)
	if err != nil {
		return fmt.Errorf("unable to drain %s: %w", node, err)
	}
	for _, pod := range moved {
		s.printf("evicting pod %s/%s%s\n", pod.namespace(), pod.name(), o.dryRun.suffix())
	}
	if o.dryRun == dryRunNone {
		if err := s.evictAll(o, pods, moved); err != nil {
			return err
		}
	}
	s.printf("%s drained%s\n", node, o.dryRun.suffix())
	return nil
}

// Reasons why Pods are not evicted without a flag.
const (
	ofDaemonSets = "Pods of DaemonSets, which come back at once (--ignore-daemonsets leaves them)"
	withData     = "Pods with emptyDir volumes, whose data would be lost (--delete-emptydir-data allows it)"
	uncontrolled = "Pods that nobody controls, and so nobody replaces (--force allows it)"
)

// chooseEvicted are the Pods to evict. The error names those that flags do not allow.
func (s *session) chooseEvicted(o *drainOptions, found []object) (moved []object, err error) {
	refused, left := map[string][]string{}, []string{}
	mirror := s.catalog.Naming.Translate("platform.io/config.mirror")
	for _, pod := range found {
		name := pod.namespace() + "/" + pod.name()
		phase := pod.tree.Object("status").String("phase")
		ended := phase == "Succeeded" || phase == "Failed"
		owner := controllerOf(pod.tree)
		switch {
		case pod.tree.Object("metadata", "annotations").Has(mirror): // the node itself has it from a file
			continue
		case ended:
		case owner == "DaemonSet" && o.ignoreDaemonSets:
			left = append(left, name)
			continue
		case owner == "DaemonSet":
			refused[ofDaemonSets] = append(refused[ofDaemonSets], name)
		case owner == "" && !o.force:
			refused[uncontrolled] = append(refused[uncontrolled], name)
		case !o.deleteEmptyDirs && slices.ContainsFunc(pod.tree.Object("spec").Objects("volumes"), func(v tree.Tree) bool { return v.Has("emptyDir") }):
			refused[withData] = append(refused[withData], name)
		}
		moved = append(moved, pod)
	}
	if len(left) > 0 {
		s.notef("Warning: ignoring DaemonSet-managed Pods: %s\n", strings.Join(left, ", "))
	}
	var faults []string
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		faults = append(faults, fmt.Sprintf("%s: %s", why, strings.Join(refused[why], ", ")))
	}
	if len(faults) > 0 {
		return nil, errors.New("it has " + strings.Join(faults, "; and "))
	}
	return moved, nil
}

// controllerOf is the kind of the object that controls another one; "" if none does.
func controllerOf(t tree.Tree) string {
	for _, owner := range t.Object("metadata").Objects("ownerReferences") {
		if owner.Bool("controller") {
			return owner.String("kind")
		}
	}
	return ""
}

// evictAll evicts Pods, several at a time, and waits until they are gone.
func (s *session) evictAll(o *drainOptions, r *discovery.Resource, pods []object) error {
	const atOnce = 16
	var mu sync.Mutex // of what is said and of faults
	var faults []error
	var running sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for _, pod := range pods {
		turns <- struct{}{}
		running.Go(func() {
			defer func() { <-turns }()
			say := func(format string, args ...any) {
				mu.Lock()
				defer mu.Unlock()
				s.notef(format, args...)
			}
			err := s.evict(o, pod, say)
			if err == nil {
				err = s.untilGone(s.ctx, r, pod.namespace(), pod.name(), pod.tree.Object("metadata").String("uid"))
			}
			mu.Lock()
			defer mu.Unlock()
			if faults = append(faults, unjoin(err)...); err == nil {
				s.printf("%s evicted\n", pod)
			}
		})
	}
	running.Wait()
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return errors.Join(faults...)
}

// evict asks for the eviction of a Pod, again and again while a budget does not allow it.
func (s *session) evict(o *drainOptions, pod object, say func(string, ...any)) error {
	const pause = 5 * time.Second
	uid := pod.tree.Object("metadata").String("uid")
	deletion := deleteOptions{grace: o.grace, cascade: "background"}
	if o.disableEviction {
		err := s.deleteOne(pod.path(), uid, deletion)
		if rest.IsNotFound(err) || rest.IsConflict(err) { // it is gone, or another one
			return nil
		}
		return err
	}
	options := tree.Tree{"preconditions": tree.Tree{"uid": uid}}
	if o.grace >= 0 {
		options["gracePeriodSeconds"] = o.grace
	}
	body := document.JSON(tree.Tree{
		"apiVersion": "policy/v1", "kind": "Eviction", "metadata": tree.Tree{"name": pod.name(), "namespace": pod.namespace()}, "deleteOptions": options,
	})
	for {
		_, err := s.Do(s.ctx, rest.Request{Method: http.MethodPost, Path: pod.path() + "/eviction", Body: body})
		switch {
		case rest.IsNotFound(err):
			return nil
		case rest.IsConflict(err): // it has changed, or it is another one
			if now, err := s.get(pod.resource, pod.namespace(), pod.name()); err == nil {
				if t, err := now.Tree(); err == nil && t.Object("metadata").String("uid") != uid {
					return nil
				}
			}
		case !rest.HasCode(err, http.StatusTooManyRequests):
			return err
		default:
			say("pod %s/%s stays for now, and is tried again: %s\n", pod.namespace(), pod.name(), describe(err, ""))
		}
		if err := sleep(s.ctx, pause); err != nil {
			return err
		}
	}
}
