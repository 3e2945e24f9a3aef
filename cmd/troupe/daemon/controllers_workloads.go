package daemon

import "github.com/troupe-api/troupe/actors/controllers/workloads"

const workloadsAlias = "workloads"

// workloadControllers create Pods for workloads. They are disabled by default, because most
// clusters run them in kube-controller-manager.
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

// scheduling assigns Pods to Nodes. It is not in the group of workload controllers, because
// clusters with Nodes usually have a scheduler.
var scheduling = func() builtIn {
	b := workload("scheduler-controller", "scheduler", (*workloads.Group).Scheduler)
	b.group, b.twin = "", stopsForScheduler
	return b
}()

func workload(name, alias string, of func(*workloads.Group) workloads.Controller) builtIn {
	return builtIn{name: name, alias: alias, group: workloadsAlias, enabled: onlyNamed, twin: pauses, ofCluster: func(c *clusterControllers) controller {
		return of(c.workloads)
	}}
}
