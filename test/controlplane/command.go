package controlplane

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main is the main function of a command that runs a control plane. It calls run with a temporary
// directory. The first signal cancels ctx, and the second terminates the process.
func Main(name string, run func(ctx context.Context, dir string) error) {
	if err := runInFolder(name, run); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func runInFolder(name string, run func(ctx context.Context, dir string) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	dir, err := os.MkdirTemp("", "troupe-"+name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return run(ctx, dir)
}

// Flags declares flags for the reference programs. Without --kube-apiserver, commands run Troupe.
func (r *Reference) Flags() {
	flag.StringVar(&r.APIServer, "kube-apiserver", "", "Path of a kube-apiserver to run in place of Troupe, beside the same controllers, scheduler and nodes.")
	flag.StringVar(&r.Etcd, "etcd", "etcd", "Path of the etcd for --kube-apiserver.")
}
