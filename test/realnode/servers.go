package realnode

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/troupe-api/troupe/test/controlplane"
)

const replicas = 3

// An apiServer is an API server since its last start.
type apiServer struct {
	*controlplane.Server
	started time.Time
}

// peakMemory returns the maximum resident memory of the running process, as Linux prints it.
func (s *apiServer) peakMemory() string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Process.Pid)) // the process may have failed
	_, value, _ := strings.Cut(string(status), "VmHWM:")
	value, _, _ = strings.Cut(value, "\n")
	return strings.TrimSpace(value)
}

// startServers starts one API server at serverAddress, or an etcd and replicas behind a load
// balancer at that address.
func (c *Cluster) startServers(ctx context.Context, o Options, flags []string) error {
	if o.Reference.APIServer != "" {
		return c.startReference(ctx, o.Reference)
	}
	c.flags = [][]string{append(flags, "--bind-address="+serverAddress)}
	if o.Etcd {
		if _, err := c.processes.Start(c.programs.Path("etcd"), "--data-dir="+filepath.Join(c.dir, "etcd")); err != nil {
			return err
		}
		flags = append(flags, "--etcd-servers=http://127.0.0.1:2379", "--advertise-address="+serverAddress)
		c.flags = nil
		for i := range replicas {
			if err := run("ip", "addr", "add", replica(i)+"/24", "dev", bridge); err != nil {
				return err
			}
			c.flags = append(c.flags, append(flags[:len(flags):len(flags)], "--bind-address="+replica(i)))
		}
	}
	for i := range c.flags {
		c.servers = append(c.servers, &apiServer{})
		if err := c.startServer(ctx, i); err != nil {
			return err
		}
	}
	c.Kubeconfig = c.servers[0].Kubeconfig
	if !o.Etcd {
		return nil
	}
	listener, err := net.Listen("tcp", server)
	if err != nil {
		return err
	}
	go c.balance(listener)
	c.Kubeconfig = filepath.Join(c.dir, "admin.kubeconfig")
	if err := run("cp", c.servers[0].Kubeconfig, c.Kubeconfig); err != nil {
		return err
	}
	name, err := c.Run("config", "view", "-o", "jsonpath={.clusters[0].name}")
	if err != nil {
		return err
	}
	return c.kubectl("config", "set-cluster", name, "--server=https://"+server)
}

func (c *Cluster) startReference(ctx context.Context, r controlplane.Reference) error {
	r.BindAddress, r.Port, r.ServiceRanges = serverAddress, serverPort, serviceSubnet
	started := time.Now()
	s, err := c.processes.StartReference(ctx, c.dir, c.Kubectl, r)
	if err != nil {
		return err
	}
	c.Kubeconfig = s.Kubeconfig
	c.servers = []*apiServer{{s, started}, {&controlplane.Server{Process: s.Etcd}, started}}
	return nil
}

func (c *Cluster) startServer(ctx context.Context, i int) (err error) {
	c.servers[i].started = time.Now()
	c.servers[i].Server, err = c.processes.StartTroupe(ctx, c.programs.Path("troupe"), filepath.Join(c.dir, fmt.Sprint("server-", i)), c.flags[i]...)
	return err
}

// administrator returns a server with the administrator's kubeconfig.
func (c *Cluster) administrator() *controlplane.Server {
	s := *c.servers[0].Server
	s.Kubeconfig = c.Kubeconfig
	return &s
}

// KillServer kills an API server, each in turn, and starts it again.
func (c *Cluster) KillServer(ctx context.Context) error {
	i := c.killed % len(c.servers)
	c.killed++
	if err := c.servers[i].Kill(); err != nil {
		return err
	}
	return c.startServer(ctx, i)
}

func replica(i int) string { return fmt.Sprint("172.30.0.", 101+i) }

// balance forwards each connection to the next replica that accepts it.
func (c *Cluster) balance(l net.Listener) {
	for next := 0; ; next++ {
		from, err := l.Accept()
		if err != nil {
			return // the process ends
		}
		for i := range replicas {
			to, err := net.Dial("tcp", net.JoinHostPort(replica((next+i)%replicas), "6443"))
			if err == nil {
				go forward(from, to)
				go forward(to, from)
				break
			}
			if i == replicas-1 {
				_ = from.Close() // no replica accepts connections
			}
		}
	}
}

// forward copies from one connection to the other until either ends, and closes both.
func forward(from, to net.Conn) {
	_, _ = io.Copy(to, from) // the clients report broken connections
	_ = from.Close()
	_ = to.Close()
}
