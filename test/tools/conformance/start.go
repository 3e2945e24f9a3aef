package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/cluster"
	"github.com/troupe-api/troupe/test/controlplane"
)

// pins is a directory with a go.mod that pins the version of the Kubernetes programs.
const pins = "../../cluster/kubernetes"

// nodeAddress is the address of all nodes. It is not 127.0.0.1, because the suite ignores that
// address.
const nodeAddress = "127.0.0.2"

// startCluster starts troupe cluster with Kubernetes' own controllers and scheduler. It returns the
// path of the kubeconfig.
func startCluster(ctx context.Context, processes *controlplane.Processes, dir string, nodes int) (kubeconfig string, err error) {
	troupe, err := client.BuildTroupe(dir)
	if err != nil {
		return "", err
	}
	settings := filepath.Join(dir, "settings.yaml")
	// The suite opens WebSockets with the origin http://localhost. It expects nodes to have the
	// permissions that kubeadm gives them.
	text := "advertise-address: " + controlplane.OuterAddress() + "\ncors-allowed-origins: ['^http://localhost$']\n" +
		"service-cluster-ip-range: " + controlplane.ServiceRanges + "\n" +
		"authorization-mode: [Node, RBAC]\nenable-admission-plugins: [NodeRestriction]\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return "", err
	}
	args := []string{"cluster", "--dir", filepath.Join(dir, "cluster"), "--secure-port=0", "--config", settings, fmt.Sprint("--nodes=", nodes), "--node-address=" + nodeAddress}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		path, err := cluster.Program(pins, name)
		if err != nil {
			return "", err
		}
		args = append(args, "--"+name+"="+path)
	}
	c, err := processes.Start(troupe, args...)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "cluster", "data", "admin.kubeconfig"),
		processes.Await(ctx, "the cluster", func() bool { return strings.Contains(c.String(), "export KUBECONFIG") })
}

// startReference is like startCluster, but runs kube-apiserver and etcd instead of troupe.
func startReference(ctx context.Context, processes *controlplane.Processes, dir, kubectl string, r controlplane.Reference, nodes int) (kubeconfig string, err error) {
	server, err := processes.StartReference(ctx, dir, kubectl, r)
	if err != nil {
		return "", err
	}
	manager, err := cluster.Program(pins, "kube-controller-manager")
	if err == nil {
		_, err = processes.StartManager(manager, server)
	}
	if err != nil {
		return "", err
	}
	scheduler, err := cluster.Program(pins, "kube-scheduler")
	if err == nil {
		_, err = processes.StartScheduler(scheduler, server)
	}
	if err != nil {
		return "", err
	}
	troupe, err := client.BuildTroupe(dir)
	if err == nil {
		_, err = processes.StartNodes(ctx, troupe, server, nodes)
	}
	return server.Kubeconfig, err
}
