package workloads

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/extensions"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/autoscaler"
	"github.com/troupe-api/troupe/actors/controllers/workloads/daemonset"
	"github.com/troupe-api/troupe/actors/controllers/workloads/deployment"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/actors/controllers/workloads/job"
	"github.com/troupe-api/troupe/actors/controllers/workloads/replicas"
	"github.com/troupe-api/troupe/actors/controllers/workloads/scheduler"
	"github.com/troupe-api/troupe/actors/controllers/workloads/statefulset"
)

// A Group makes the controllers of workloads, which share what they know of the cluster.
type Group struct{ cluster *cluster.Cluster }

// NewGroup makes a group. Writes to the store are admitted like those of clients. Nothing is done while there is
// another leader.
func NewGroup(env *reconcile.Env, leader cluster.Leader) *Group {
	return &Group{cluster.New(env, leader)}
}

// A Controller works until the context ends.
type Controller interface{ Run(ctx context.Context) }

// Deployments is the controller of Deployments.
func (g *Group) Deployments() Controller { return deployment.New(g.cluster) }

// ReplicaSets is the controller of ReplicaSets.
func (g *Group) ReplicaSets() Controller { return replicas.NewReplicaSets(g.cluster) }

// ReplicationControllers is the controller of ReplicationControllers.
func (g *Group) ReplicationControllers() Controller {
	return replicas.NewReplicationControllers(g.cluster)
}

// Jobs is the controller of Jobs.
func (g *Group) Jobs() Controller { return job.New(g.cluster) }

// CronJobs is the controller of CronJobs.
func (g *Group) CronJobs() Controller { return job.NewCron(g.cluster) }

// StatefulSets is the controller of StatefulSets.
func (g *Group) StatefulSets() Controller { return statefulset.New(g.cluster) }

// DaemonSets is the controller of DaemonSets.
func (g *Group) DaemonSets() Controller { return daemonset.New(g.cluster) }

// Scheduler puts Pods on nodes.
func (g *Group) Scheduler() Controller { return scheduler.New(g.cluster) }

// Autoscalers is the controller of HorizontalPodAutoscalers. servers have the metrics.
func (g *Group) Autoscalers(servers extensions.Servers, o autoscaler.Options) Controller {
	return autoscaler.New(g.cluster, servers, o)
}
