package persist

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/buntdb"
)

// salvage skips revisions if assigned revisions may be lost, as after an accepted data loss or a
// reboot under SyncNone. It writes the remaining state as a snapshot above all assigned revisions,
// so that no watch continues across the gap.
//
// Only reading the whole state reveals a missing file. If Options.AcceptDataLoss is set, salvage
// therefore starts with a dry run of the recovery.
func (j *Journal) salvage() error {
	m := j.control.watermark
	loss := j.control.lost || m.lostUnsynced(j.o.bootID)
	if !loss && j.o.AcceptDataLoss {
		run := &recovery{j: j}
		err := run.runSteps(run.loadState, run.findSegments, run.dropStaleJournal, run.replayJournal, run.checkComplete)
		j.inventory.stats = Stats{}
		loss = j.acceptsLoss(asError(lossOf(err)))
	}
	if !loss {
		return nil
	}
	db, err := openMemory()
	if err != nil {
		return err
	}
	at, err := j.salvageInto(db)
	return j.skipRevisions(at, errors.Join(err, db.Close()))
}

func asError(loss *DataLossError) error {
	if loss == nil {
		return nil
	}
	return loss
}

// salvageInto writes the remaining state as a snapshot and returns its revision. If the control
// file is lost, it skips restoreRevisionGap revisions.
func (j *Journal) salvageInto(db *buntdb.DB) (at Revision, err error) {
	put := func(c Commit) error {
		return db.Update(func(tx *buntdb.Tx) error { return applyAll(tx, []Commit{c}) })
	}
	run := &recovery{j: j, lenient: true}
	run.r.Item = func(i Item) error { return put(Commit{Key: i.Key, Value: i.Value, Revision: i.Revision}) }
	run.r.Commit = func(c Commit) error {
		if c.Revision <= run.base {
			return nil
		}
		return put(c)
	}
	err = run.runSteps(run.loadState, run.findSegments, run.dropStaleJournal, run.replayJournal, run.checkComplete)
	j.inventory.stats = Stats{}
	if err != nil {
		return 0, err
	}
	last := max(run.base, run.last)
	if at = max(last, j.control.watermark.maxRevision) + 1; j.control.lost {
		at = last + restoreRevisionGap
	}
	j.o.Logger.Warn("skipping revisions that may have been assigned after the last remaining one", "last", last, "next", at+1)
	return at, writeState(j.o, j.dir, at, db)
}

func (j *Journal) skipRevisions(at Revision, err error) error {
	if err != nil {
		return noSpace(err)
	}
	gaps, _ := j.Label(gapsLabel)
	if err := j.setLabel(gapsLabel, strings.TrimSpace(fmt.Sprint(gaps, " ", at+1))); err != nil {
		return err
	}
	j.inventory.newest, j.control.lost = at, false
	return j.writeWatermark()
}

func writeState(o Options, dir string, at Revision, db *buntdb.DB) error {
	if err := removeSnapshot(o.FS, dir, at); err != nil {
		return err
	}
	m, err := writeItems(o.FS, snapshotPath(dir, at), at, func(yield func(Item) bool) error {
		return eachItem(db, func(i Item) error {
			if !yield(i) {
				return io.ErrShortWrite // writeItems returns the cause
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("snapshot at revision %d: %w", at, err)
	}
	m.Time = o.Now().UnixNano()
	return publishSnapshot(o.FS, dir, m)
}
