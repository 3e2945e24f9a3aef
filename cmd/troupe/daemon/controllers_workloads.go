package daemon

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/workloads"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
)

// workloadsAlias names all controllers of workloads at once.
const workloadsAlias = "workloads"

// workloadControllers make Pods of what users declare. Most clusters have a process of their own for that, so they run
// only if they are named. What they create is admitted, so they start when the policies are made.
var workloadControllers = []builtIn{
	workload("cronjob-controller", "cronjob", (*workloads.Group).CronJobs),
	workload("daemonset-controller", "daemonset", (*workloads.Group).DaemonSets),
	workload("deployment-controller", "deployment", (*workloads.Group).Deployments),
	autoscalers(),
	workload("job-controller", "job", (*workloads.Group).Jobs),
	workload("replicaset-controller", "replicaset", (*workloads.Group).ReplicaSets),
	workload("replicationcontroller-controller", "replicationcontroller", (*workloads.Group).ReplicationControllers),
	scheduling,
	workload("statefulset-controller", "statefulset", (*workloads.Group).StatefulSets),
}

// scheduling puts Pods on nodes. It is no part of the group: who has nodes mostly has a scheduler, whatever makes the Pods.
var scheduling = func() builtIn {
	b := workload("scheduler-controller", "scheduler", (*workloads.Group).Scheduler)
	b.group = ""
	return b
}()

// workload describes a controller of workloads. They write through admission, unlike the server's own controllers, and therefore start when policies can be asked.
func workload(name, alias string, of func(*workloads.Group) workloads.Controller) builtIn {
	return builtIn{name: name, alias: alias, group: workloadsAlias, offByDefault: true, authorizes: true, pauses: true, newController: func(d *Daemon, kinds *catalog.Catalog) controller {
		return of(d.workloadGroup(kinds))
	}}
}

// serverUser is who writes of the server itself are from, where admission asks.
var serverUser = &authn.User{Name: "system:apiserver", Groups: []string{authn.GroupMasters, authn.GroupAuthenticated}}

// An admittingStore admits writes of the server itself as it does those of clients: defaults, quotas, webhooks and
// policies count for them too.
type admittingStore struct {
	controllers.Store
	admission *admission.Chain
}

// admittingStore is that of the leader. It is made when the policies are.
func (d *Daemon) admittingStore() admittingStore {
	return admittingStore{d.leadersStore(), d.admission}
}

// DeleteCollection implements controllers.Store.
func (s admittingStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	key := meta.Key{GroupResource: l.Kind.Storage, Namespace: l.Namespace}
	m.Admission = s.admission.For(serverUser, request.Delete, l.Kind, "", key)
	m.Waiting = s.admission.Waiting(serverUser, l.Kind, "", l.Namespace)
	return s.Store.DeleteCollection(ctx, l, m)
}

// Mutate implements controllers.Store.
func (s admittingStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	m.Admission = s.admission.For(serverUser, m.Verb, m.Kind, m.Subresource, m.Key)
	m.Waiting = s.admission.Waiting(serverUser, m.Kind, m.Subresource, m.Key.Namespace)
	return s.Store.Mutate(ctx, m)
}
