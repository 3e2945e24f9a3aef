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

// pins is the folder that pins the versions of Kubernetes' programs.
const pins = "../../cluster/kubernetes"

// nodeAddress is that of the nodes. It is another one than 127.0.0.1, which the suite takes for one that all nodes have beside their own.
const nodeAddress = "127.0.0.2"

// startCluster starts troupe cluster with the programs of Kubernetes, and returns the client configuration.
func startCluster(ctx context.Context, processes *controlplane.Processes, dir string, nodes int) (kubeconfig string, err error) {
	troupe, err := client.BuildTroupe(dir)
	if err != nil {
		return "", err
	}
	settings := filepath.Join(dir, "settings.yaml")
	// The suite opens WebSockets as a page of http://localhost would, which no page may otherwise, and expects of nodes what kubeadm allows them.
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

// startReference starts what startCluster starts, with kube-apiserver and an etcd in place of the daemon, and returns the client configuration.
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
