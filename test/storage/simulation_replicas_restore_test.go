package storage

import (
	"context"
	"math/rand/v2"

	"github.com/troupe-api/troupe/test/etcdmodel"
)

// save takes a backup of etcd between two equal lists.
func (h *replicasHistory) save(d *simulatedDaemon, _ replicaStep, _ *rand.Rand) error {
	if h.quiesce(); d.server == nil {
		return nil
	}
	before, err := d.server.List(context.Background(), configMaps, nil)
	if err != nil {
		return nil
	}
	backup := h.cluster.Save()
	after, err := d.server.List(context.Background(), configMaps, nil)
	if err == nil && contents(before) == contents(after) {
		h.backup = &replicasBackup{backup, listed(after)}
	}
	return nil
}

// restore replaces the history of etcd while some servers are cut off: by that of a backup, with or
// without higher revisions, or by an empty one.
func (h *replicasHistory) restore(_ *simulatedDaemon, s replicaStep, r *rand.Rand) error {
	bump, replaces := int64(r.IntN(2)*1000000), r.IntN(5) == 0
	if h.backup == nil && !replaces {
		return nil
	}
	h.quiesce()
	for _, o := range h.observers {
		o.end()
	}
	var behind []*simulatedDaemon
	for _, d := range h.replicas {
		switch {
		case d.server == nil:
		case r.IntN(2) == 0:
			behind = append(behind, d)
			d.link.Set(etcdmodel.Fault{Requests: etcdmodel.Hold, Responses: etcdmodel.Hold, Events: etcdmodel.Hold})
		case r.IntN(2) == 0:
			if err := h.crash(d, false); err != nil {
				return err
			}
		}
	}
	h.note("  step %d: replaced %v, bumped by %d, %d daemons are cut off", s.number, replaces, bump, len(behind))
	h.checkEpoch()
	if replaces {
		h.cluster.Replace()
		h.frozen, h.limited, bump = map[string]string{}, false, 0
	} else {
		h.cluster.Restore(h.backup.etcd, bump)
		h.frozen = h.backup.objects
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newest = 0
	if bump > 0 {
		for version := range h.events {
			h.newest = max(h.newest, version)
		}
	}
	h.epoch, h.restores, h.backup = h.epoch+1, h.restores+1, nil
	h.events, h.services, h.terms, h.led = map[uint64]string{}, map[string]*holding{}, nil, nil
	for _, d := range h.replicas {
		if d.server != nil {
			d.server.taken.Store(0)
			d.server.outdated.Store(bump == 0)
		}
	}
	for _, o := range h.observers {
		o.begin()
	}
	return nil
}

// checkEpoch checks what ends with the restore.
func (h *replicasHistory) checkEpoch() {
	h.checkFences()
	h.checkVersions()
}
