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
scheduler, and simulated nodes. Nodes are Ready and renew their leases; Pods start, become
ready, end and are deleted as on a kubelet, but run no containers. Logs, exec and attach
work. Annotations define the behavior of a Pod, such as troupe/exit-after: 10s.

  troupe cluster --nodes 1000
  kubectl --kubeconfig troupe-cluster/data/admin.kubeconfig get nodes

kube-controller-manager and kube-scheduler are used if they are in PATH or given by flag,
and built-in controllers and a small scheduler otherwise. With --join, only nodes are
simulated, for a running server.

  troupe cluster --join troupe-data/admin.kubeconfig --nodes 5`

func cluster() *cobra.Command {
	var o localcluster.Options
	c := &cobra.Command{Use: "cluster", Short: "Run a cluster with simulated nodes", Long: clusterHelp, Args: cobra.NoArgs}
	f := c.Flags()
	f.SortFlags = false
	f.IntVar(&o.Nodes, "nodes", 3, "Number of nodes.")
	f.StringVar(&o.Dir, "dir", "troupe-cluster", "Directory of the data and logs.")
	f.StringVar(&o.Naming, "naming", "kubernetes", "Naming profile, kubernetes or platform.")
	f.IntVar(&o.Port, "secure-port", 6443, "Port of the API; 0 for a free one.")
	f.StringVar(&o.Config, "config", "", "YAML file with settings of the API server.")
	f.StringVar(&o.ControllerManager, "kube-controller-manager", "", "kube-controller-manager program, or built-in (default the one in PATH, else built-in).")
	f.StringVar(&o.Scheduler, "kube-scheduler", "", "kube-scheduler program, or built-in (default the one in PATH, else built-in).")
	f.StringVar(&o.Join, "join", "", "Kubeconfig of a running server to simulate nodes for.")
	f.StringToStringVar(&o.Capacity, "capacity", nil, "Capacity of each node, such as cpu=8,memory=16Gi (default 32 CPUs, 256Gi of memory, 110 Pods, 1Ti of ephemeral-storage).")
	f.DurationVar(&o.JobTime, "job-time", time.Second, "Run time of a Job container without an annotation.")
	f.StringVar(&o.PodRange, "pod-range", "10.128.0.0/9", "CIDR of the Pod addresses.")
	f.StringVar(&o.NodeAddress, "node-address", "127.0.0.1", "Address of all nodes, on which their kubelet listens.")
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
