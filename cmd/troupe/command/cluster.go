package command

import (
	"context"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/localcluster"
)

const clusterHelp = `Run a cluster on this machine until SIGTERM or SIGINT: the API server, controllers, a
scheduler, and nodes that are simulated. Nodes are Ready and renew their leases; Pods start
on them, become ready, end and are deleted as a kubelet would do it, but nothing runs. Logs,
exec and attach answer. Annotations of a Pod say what it does, as troupe/exit-after: 10s.

  troupe cluster --nodes 1000
  kubectl --kubeconfig troupe-cluster/data/admin.kubeconfig get nodes

kube-controller-manager and kube-scheduler do the work where they are in PATH, or are
named; else controllers and a small scheduler that are built in. With --join only nodes
are played, for a server that runs already.

  troupe cluster --join troupe-data/admin.kubeconfig --nodes 5`

func cluster() *cobra.Command {
	var o localcluster.Options
	c := &cobra.Command{Use: "cluster", Short: "Run a cluster with simulated nodes", Long: clusterHelp, Args: cobra.NoArgs}
	f := c.Flags()
	f.SortFlags = false
	f.IntVar(&o.Nodes, "nodes", 3, "How many nodes there are.")
	f.StringVar(&o.Dir, "dir", "troupe-cluster", "Directory of everything that is kept, and of the logs.")
	f.StringVar(&o.Naming, "naming", "kubernetes", "Naming profile, kubernetes or platform.")
	f.IntVar(&o.Port, "secure-port", 6443, "Port of the API; 0 picks a free one.")
	f.StringVar(&o.Config, "config", "", "YAML file of settings of the API server.")
	f.StringVar(&o.ControllerManager, "kube-controller-manager", "", "Program that runs controllers; built-in for those of the API server (default: the one in PATH, else built-in).")
	f.StringVar(&o.Scheduler, "kube-scheduler", "", "Program that schedules Pods; built-in for the scheduler of the API server (default: the one in PATH, else built-in).")
	f.StringVar(&o.Join, "join", "", "Client configuration of a server that runs already, for which only nodes are played.")
	f.StringToStringVar(&o.Capacity, "capacity", nil, "What each node offers, beside 32 CPUs, 256Gi of memory, 110 Pods and 1Ti of ephemeral-storage, as in cpu=8,memory=16Gi.")
	f.DurationVar(&o.JobTime, "job-time", time.Second, "How long a container of a Job runs of which nothing else is said.")
	f.StringVar(&o.PodRange, "pod-range", "10.128.0.0/9", "Range of the addresses of Pods.")
	f.StringVar(&o.NodeAddress, "node-address", "127.0.0.1", "Address of all nodes, at which their kubelet listens.")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := o.Validate(); err != nil {
			return err
		}
		o.Out = c.OutOrStdout()
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		context.AfterFunc(ctx, stop) // a second signal ends the process immediately
		return localcluster.Run(ctx, o)
	}
	return c
}
