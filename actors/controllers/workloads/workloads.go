package workloads

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/apiservices"
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

// A Group creates workload controllers that share one view of the cluster.
type Group struct{ cluster *cluster.Cluster }

// NewGroup returns a Group. Its controllers' requests go through admission like client requests.
// The controllers pause while another process is the leader.
func NewGroup(env *reconcile.Env, leader cluster.Leader) *Group {
	return &Group{cluster.New(env, leader)}
}

// A Controller runs until the context is done.
type Controller interface{ Run(ctx context.Context) }

func (g *Group) Deployments() Controller { return deployment.New(g.cluster) }

func (g *Group) ReplicaSets() Controller { return replicas.NewReplicaSets(g.cluster) }

func (g *Group) ReplicationControllers() Controller {
	return replicas.NewReplicationControllers(g.cluster)
}

func (g *Group) Jobs() Controller { return job.New(g.cluster) }

func (g *Group) CronJobs() Controller { return job.NewCron(g.cluster) }

func (g *Group) StatefulSets() Controller { return statefulset.New(g.cluster) }

func (g *Group) DaemonSets() Controller { return daemonset.New(g.cluster) }

// Scheduler returns a controller that binds Pods to nodes.
func (g *Group) Scheduler() Controller { return scheduler.New(g.cluster) }

// Autoscalers returns a controller for HorizontalPodAutoscalers. It reads metrics from servers.
func (g *Group) Autoscalers(servers apiservices.Servers, o autoscaler.Options) Controller {
	return autoscaler.New(g.cluster, servers, o)
}
