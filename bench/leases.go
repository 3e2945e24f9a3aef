package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// nodeLeases is the number of nodes that renew a Lease. With one renewal every ten seconds, that
// would be 2,000 writes per second.
const nodeLeases = 20_000

type leaseSet struct {
	*fixture
	group, collection string
	leases            []lease
}

// lease stores the resourceVersion that the node has last seen. mu prevents conflicting writes.
type lease struct {
	mu      sync.Mutex
	version string // guarded by mu
}

func (f *fixture) leaseSet(n int) (*leaseSet, error) {
	group, err := f.Target.group("coordination")
	if err != nil {
		return nil, err
	}
	collection := fmt.Sprintf("/apis/%s/v1/namespaces/%s/leases", group, f.namespace)
	f.others = append(f.others, collection)
	return &leaseSet{fixture: f, group: group, collection: collection, leases: make([]lease, n)}, nil
}

// renew is a Step that creates or renews a node's Lease. A renewal sends the last known
// resourceVersion as a precondition.
func (l *leaseSet) renew(c *Conn, n int) (int, error) {
	n %= len(l.leases)
	lease := &l.leases[n]
	lease.mu.Lock()
	defer lease.mu.Unlock()
	answer, err := c.Call(l.request(n, lease.version))
	if err == nil {
		lease.version = l.Target.resourceVersion(answer)
	}
	return len(answer), err
}

// request returns a request that renews a Lease, or creates the Lease if version is empty.
func (l *leaseSet) request(n int, version string) (request Request) {
	node, now := nodeName(n), time.Now()
	if l.Target.Accept != "" {
		renewed := wire(1, now.Unix(), 2, int64(now.Nanosecond()))
		request = postTyped(l.collection, l.Target.Accept, l.group+"/v1", "Lease",
			wire(1, wire(1, node, 6, version), 2, wire(1, node, 4, renewed)))
	} else {
		request = post(l.collection, `{"apiVersion":"%s/v1","kind":"Lease","metadata":{"name":%q,"resourceVersion":%q},`+
			`"spec":{"holderIdentity":%q,"leaseDurationSeconds":40,"renewTime":%q}}`,
			l.group, node, version, node, now.UTC().Format("2006-01-02T15:04:05.000000Z"))
	}
	if version != "" {
		request.Method, request.Path = http.MethodPut, l.collection+"/"+node
	}
	return request
}

func nodeName(n int) string { return fmt.Sprintf("node-%06d", n) }

// renewLeases measures Lease renewals. Unlike other updates, a renewal has a resourceVersion
// precondition and changes one field of a small object.
func renewLeases(ctx context.Context, f *fixture) ([]Result, error) {
	l, err := f.leaseSet(f.scaledSize("leases: nodes", nodeLeases))
	if err != nil {
		return nil, err
	}
	if err := f.fill(ctx, len(l.leases), l.renew); err != nil {
		return nil, err
	}
	load := f.load()
	sample, err := load.drive(ctx, f.Target, l.renew)
	if err != nil {
		return nil, err
	}
	return []Result{{Sample: sample, Floor: floorOf(load, l.request(0, "1"), 1, sample.bytesPerOperation())}}, nil
}
