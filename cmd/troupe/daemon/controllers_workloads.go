package daemon

import "github.com/troupe-api/troupe/actors/controllers/workloads"

// workloadsAlias names all controllers of workloads at once.
const workloadsAlias = "workloads"

// workloadControllers make Pods of what users declare. Most clusters have a process of their own for that, so they run
// only if they are named.
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

// workload describes a controller of workloads.
func workload(name, alias string, of func(*workloads.Group) workloads.Controller) builtIn {
	return builtIn{name: name, alias: alias, group: workloadsAlias, enabled: onlyNamed, twin: pauses, ofCluster: func(c *clusterControllers) controller {
		return of(c.workloads)
	}}
}
