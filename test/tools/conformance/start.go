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

// pins is a directory with a go.mod that pins the Kubernetes version.
const pins = "../../cluster/kubernetes"

// nodeAddress is the address of all nodes. The suite would ignore 127.0.0.1.
const nodeAddress = "127.0.0.2"

// startCluster starts troupe cluster with Kubernetes' own controllers and scheduler, and returns
// the path of its kubeconfig.
func startCluster(ctx context.Context, processes *controlplane.Processes, dir string, nodes int) (kubeconfig string, err error) {
	troupe, err := client.BuildTroupe(dir)
	if err != nil {
		return "", err
	}
	settings := filepath.Join(dir, "settings.yaml")
	// The suite opens WebSockets with the origin http://localhost, and expects nodes to have the
	// permissions that kubeadm grants.
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
