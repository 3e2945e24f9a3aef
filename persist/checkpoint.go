package persist

import "slices"

// A Checkpoint describes the files of a journal at one revision. With it, a journal opens a copy of
// these files without reading them (Options.Checkpoint).
type Checkpoint struct {
	Newest Revision

	segments []segment
	base     Revision
	hasBase  bool
	stats    Stats
}

// Freeze calls fn while no batch is appended and no snapshot is written, so that fn can copy the
// files. The journal must have been recovered, and may be closed. Freeze returns an error if the
// journal has failed, because its files may then lack the newest batch.
func (j *Journal) Freeze(fn func(Checkpoint)) error {
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	j.filesMu.Lock()
	defer j.filesMu.Unlock()
	if err := j.status.failed(); err != nil {
		return err
	}
	j.inventory.mu.Lock()
	i := &j.inventory
	c := Checkpoint{i.newest, slices.Clone(i.segments), i.base, i.hasBase, Stats{
		SnapshotBytes: i.stats.SnapshotBytes, Snapshots: i.stats.Snapshots, SinceSnapshot: i.stats.SinceSnapshot,
	}}
	j.inventory.mu.Unlock()
	fn(c)
	return nil
}

// resume is the recovery of a copy. The caller already has the state.
func (run *recovery) resume(c *Checkpoint) error {
	run.base, run.hasBase, run.last, run.segments = c.base, c.hasBase, c.Newest, slices.Clone(c.segments)
	run.j.inventory.stats = c.stats
	return run.openActiveSegment()
}
