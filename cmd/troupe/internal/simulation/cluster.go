package simulation

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Options configures a Cluster. The brackets contain the defaults.
type Options struct {
	Client *rest.Client
	Naming *meta.Naming
	// Nodes is the number of nodes, named Prefix [node-] plus a number from 0.
	Nodes  int
	Prefix string
	// Capacity overrides the capacity of each node by resource [32 cpu, 256Gi memory, 110 pods, 1Ti
	// ephemeral-storage].
	Capacity map[string]string
	// Address is the address of all nodes and of the kubelet listener [127.0.0.1].
	Address string
	// PodRange is the Pod CIDR [10.128.0.0/9].
	PodRange netip.Prefix
	// JobTime is how long a Job's container runs if its command cannot be simulated [1s].
	JobTime time.Duration
	// Workers limits the concurrent requests for Pods and, separately, for leases [32].
	Workers int
	// TLS is the kubelet's TLS configuration, including client authentication.
	TLS *tls.Config
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, "node-")
	capacity := map[string]string{"cpu": "32", "memory": "256Gi", "pods": "110", "ephemeral-storage": "1Ti"}
	maps.Copy(capacity, o.Capacity)
	o.Capacity = capacity
	o.Address = cmp.Or(o.Address, "127.0.0.1")
	if !o.PodRange.IsValid() {
		o.PodRange = netip.MustParsePrefix("10.128.0.0/9")
	}
	o.JobTime = cmp.Or(o.JobTime, time.Second)
	o.Workers = cmp.Or(o.Workers, 32)
	return o
}

// A Cluster simulates all nodes in one process.
type Cluster struct {
	Options
	registry
	queue     *queue
	addresses *addresses
	kubelet   net.Listener
	synced    sync.WaitGroup // done after the first lists of both watches
	ready     atomic.Int64   // registered nodes
}

// New creates a Cluster. It opens the listener, so that it can return a listen error.
func New(o Options) (*Cluster, error) {
	o = o.withDefaults()
	c := &Cluster{Options: o, registry: registry{pods: map[objectKey]podRecord{}, nodes: map[string]*node{}}, queue: newQueue(), addresses: newAddresses(o.PodRange)}
	listener, err := net.Listen("tcp", net.JoinHostPort(o.Address, "0"))
	if err != nil {
		return nil, fmt.Errorf("the kubelet of the nodes: %w", err)
	}
	c.kubelet = listener
	return c, nil
}

// Ready returns the number of registered nodes.
func (c *Cluster) Ready() int { return int(c.ready.Load()) }

// Run simulates the nodes until ctx ends. It returns an error if they cannot be registered.
func (c *Cluster) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	server := &http.Server{Handler: c.handler(), TLSConfig: c.TLS, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug)}
	running.Go(func() {
		if err := server.ServeTLS(c.kubelet, "", ""); ctx.Err() == nil {
			c.Log.Error("the kubelet of the nodes ended", "error", err)
		}
	})
	running.Go(func() {
		<-ctx.Done()
		_ = server.Close() // streams end with their clients
	})
	if err := c.register(ctx); err != nil {
		return err
	}
	c.synced.Add(2)
	for _, f := range []follower{
		{path: "/api/v1/nodes", query: url.Values{"labelSelector": {simulatedLabel}}, apply: c.noteNode, synced: c.synced.Done},
		{path: "/api/v1/pods", query: url.Values{"fieldSelector": {"spec.nodeName!="}}, apply: c.notePod, synced: c.synced.Done},
	} {
		f.client = c.Client
		running.Go(func() { f.run(ctx, c.Log) })
	}
	running.Go(func() { c.heartbeats(ctx) })
	running.Go(func() { newProvisioner(c).run(ctx) })
	for range c.Workers {
		running.Go(func() { c.queue.run(ctx, func(key objectKey) time.Time { return c.treat(ctx, key) }) })
	}
	<-ctx.Done()
	return nil
}

func (c *Cluster) notePod(change objectChange) {
	if change.gone {
		if p := c.dropPod(change.key); p != nil {
			c.addresses.release(p.ip)
		}
		return
	}
	p, err := decodePod(change.object)
	if err != nil {
		c.Log.Warn("cannot decode a Pod", "pod", change.key.String(), "error", err)
		return
	}
	if !c.isOurs(p.Spec.NodeName) {
		return
	}
	if old := c.putPod(p); old != "" && old != p.Status.PodIP { // another Pod with the same name
		c.addresses.release(old)
	}
	if p.Status.PodIP != "" {
		c.addresses.note(p.Status.PodIP)
	}
	c.queue.add(change.key, time.Now())
}

// retryAfter is the delay before a Pod is retried after a failed request.
const retryAfter = time.Second

// treat performs all due steps of a Pod's lifecycle. It returns the time at which it must process
// the Pod again, or the zero time.
func (c *Cluster) treat(ctx context.Context, key objectKey) (again time.Time) {
	for ctx.Err() == nil {
		r, ok := c.pod(key)
		if !ok || c.isDown(r.pod.Spec.NodeName) {
			return time.Time{} // the Pods of a node that comes back are all queued again
		}
		if r.ip == "" && r.pod.Status.PodIP == "" && !r.pod.Spec.HostNetwork {
			ip, err := c.addresses.take()
			if err != nil {
				c.Log.Error("cannot start a Pod", "pod", key.String(), "error", err)
				return time.Now().Add(10 * retryAfter)
			}
			r.ip = ip
			c.setIP(key, r.pod.Metadata.UID, ip)
		}
		l := lifecycle{pod: r.pod, now: time.Now().UTC().Truncate(time.Second), bound: r.bound, jobTime: c.JobTime, hostIP: c.Address, podIP: r.ip}
		next := l.step()
		switch {
		case next.remove:
			if err := c.remove(ctx, r.pod); err != nil {
				c.Log.Debug("cannot delete a Pod", "pod", key.String(), "error", err)
				return time.Now().Add(retryAfter)
			}
			return time.Time{}
		case next.status != nil:
			err := c.write(ctx, r.pod, next.status)
			switch {
			case rest.HasCode(err, http.StatusNotFound, http.StatusConflict):
				return time.Now().Add(retryAfter) // if the Pod was deleted or replaced, the watch event arrives earlier
			case rest.HasCode(err, http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusForbidden):
				c.Log.Warn("the status of a Pod was rejected", "pod", key.String(), "error", err)
				return time.Now().Add(10 * retryAfter)
			case err != nil:
				c.Log.Debug("cannot update the status of a Pod", "pod", key.String(), "error", err)
				return time.Now().Add(retryAfter)
			}
		default:
			return next.next
		}
	}
	return time.Time{}
}

func podPath(p *Pod) string {
	return "/api/v1/namespaces/" + p.Metadata.Namespace + "/pods/" + p.Metadata.Name
}

func (c *Cluster) write(ctx context.Context, p *Pod, s *PodStatus) error {
	text, err := c.send(ctx, http.MethodPatch, podPath(p)+"/status", rest.StrategicPatch, statusPatch(p.Metadata.UID, *s))
	if err != nil {
		return err
	}
	now, err := decodePod(text)
	if err == nil {
		c.updatePod(now)
	}
	return err
}

func (c *Cluster) remove(ctx context.Context, p *Pod) error {
	_, err := c.send(ctx, http.MethodDelete, podPath(p), "", map[string]any{
		"gracePeriodSeconds": 0, "preconditions": map[string]any{"uid": p.Metadata.UID},
	})
	return err
}

func (c *Cluster) nodeName(i int) string { return c.Prefix + strconv.Itoa(i) }
